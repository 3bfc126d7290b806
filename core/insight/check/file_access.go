package check

import (
	"math/bits"
	"slices"
	"strings"

	"gompirma/core/abi"
)

// This file finds conflicting accesses to the bytes of a file (MPI-5.0 14.6.1). Two accesses by different ranks
// conflict if they touch the same byte and at least one of them writes. A write must be followed by MPI_File_sync at
// its rank. Then the ranks must synchronize, and the other rank must call MPI_File_sync before its own access. A read
// only needs to be ordered before a later write. Accesses through handles of different MPI_File_open calls, accesses
// with shared file pointers and accesses in atomic mode are not compared.

// fileMember is the state of a file at a rank.
type fileMember struct {
	view     fileView
	position int64 // position of the individual file pointer in etypes; -1 if unknown
	thread   int   // thread that has used the individual file pointer last
	isAtomic bool
	synced   vector    // clock at the entry of this rank's latest completed MPI_File_sync or MPI_File_open
	unsynced []*access // writes that are complete, but that no MPI_File_sync has followed
}

// fileView is a view of a file. Its etype has no bytes if the view is unknown.
type fileView struct {
	disp       int64
	etypeBytes int64
	filetype   *typemap
}

// maxFileAccesses is the largest number of accesses to a file that are kept. Later accesses are compared with these,
// but not with each other.
const maxFileAccesses = 1 << 16

// newFileMember returns the state of a file at a rank that has opened it.
func newFileMember(k *rank, e *event) *fileMember {
	m := &fileMember{thread: e.Thread, synced: e.call.collective.entered[k.number]}
	m.view = fileView{etypeBytes: 1, filetype: k.typeOf(abi.MPI_BYTE)}
	if e.In("amode").Int()&abi.MPI_MODE_APPEND != 0 {
		m.position = -1
	}
	return m
}

// isTracked reports whether accesses to a file are compared with each other. It returns false for a file that is open
// for reading only, and for a device, which has no storage.
func (f *file) isTracked() bool {
	return !f.isReadOnly && (!strings.HasPrefix(f.name, "/dev/") || strings.HasPrefix(f.name, "/dev/shm/"))
}

// bytes returns the ranges of the file with the given number of bytes of the view, from byte `position` of the view on.
// It returns nil if the ranges are unknown or too many.
func (v *fileView) bytes(position, n int64) []span {
	const limit = 1 << 61
	t := v.filetype
	if t == nil || t.size <= 0 || position < 0 || position > limit || n <= 0 || n > limit {
		return nil
	}
	first, skip := position/t.size, position%t.size
	copies := (skip + n + t.size - 1) / t.size
	over, base := bits.Mul64(uint64(first), uint64(max(t.extent(), 0)))
	if over != 0 || base > limit {
		return nil
	}
	if t.isContiguous() {
		low := t.low + v.disp + position
		return []span{{uint64(low), uint64(low + n)}}
	}
	if t.segments > maxSpans/copies {
		return nil
	}
	var spans []span
	for at, length := range t.ranges(copies, skip) {
		if length = min(length, n); length == 0 {
			break
		}
		low := uint64(v.disp) + base + uint64(at)
		spans = append(spans, span{low, low + uint64(length)})
		n -= length
	}
	return merged(spans)
}

// enterFile records the access of a call to the data of a file.
func (c *Checker) enterFile(k *rank, e *event) {
	a, is := splitFileAccess(e.name)
	if !is || a.isEnd {
		return
	}
	f := k.files[e.In("fh").Uint()]
	if f == nil || !f.isTracked() || c.recordsLost {
		return
	}
	m := f.members[k.number]
	bytes := int64(-1)
	if t := k.typeOf(e.In("datatype").Uint()); t != nil && e.In("count").Int() >= 0 {
		if over, n := bits.Mul64(uint64(t.size), e.In("count").Uint()); over == 0 && n < 1<<61 {
			bytes = int64(n)
		}
	}
	position := int64(-1)
	switch {
	case a.usesShared:
		return
	case a.isExplicit:
		position = e.In("offset").Int()
	default:
		position = m.advance(e.Thread, bytes)
	}
	if position < 0 || bytes <= 0 || m.isAtomic || m.view.etypeBytes <= 0 || position > 1<<61/m.view.etypeBytes {
		return
	}
	if spans := m.view.bytes(position*m.view.etypeBytes, bytes); len(spans) > 0 {
		e.call.fileAccess = &access{site: k.newSite(e), kind: a.kind, spans: spans, file: f}
		c.addFileAccess(k, m, e.call.fileAccess)
		if a.kind == reads && e.call.collective != nil {
			// In this case collectives count as synchronization: a rank that has returned is ordered after
			// all reads of the others.
			e.call.fileAccess.endInFile(e.call.now)
		}
	}
}

// endInFile records that an access to a file has ended.
func (a *access) endInFile(at timestamp) {
	a.isOver, a.end = true, at
	if !a.isDropped {
		a.file.space.noteEnd(a)
	}
}

// advance moves the individual file pointer behind an access of the given number of bytes, -1 if unknown, and returns
// its previous position. The order of accesses of several threads is unknown.
func (m *fileMember) advance(thread int, bytes int64) int64 {
	was := m.position
	if thread != m.thread || bytes < 0 || m.view.etypeBytes <= 0 || was < 0 {
		was, m.position = -1, -1
	} else {
		m.position += bytes / m.view.etypeBytes
	}
	m.thread = thread
	return was
}

// seek sets the individual file pointer of a rank.
func (m *fileMember) seek(thread int, position int64) {
	m.thread, m.position = thread, max(position, -1)
}

// addFileAccess records an access to a file, and reports its conflicts.
func (c *Checker) addFileAccess(k *rank, m *fileMember, a *access) {
	s := a.file.space
	s.each(a, func(x *access) {
		start := m.synced
		if x.kind == reads {
			start = k.clock
		}
		if x.site.rank == k.number || a.kind == reads && x.kind == reads || x.endedBefore(start) {
			return
		}
		if at, is := overlap(a, x); is {
			c.fileConflict(k, x, a, at)
		}
	})
	if s.count < maxFileAccesses {
		s.add(a)
	} else {
		a.isDropped = true
	}
}

// fileConflict reports that access y of rank k to a file conflicts with the earlier access x.
func (c *Checker) fileConflict(k *rank, x, y *access, at span) {
	advice := "Nothing orders the two accesses. Synchronize the ranks between them, and call MPI_File_sync " +
		"before and after that."
	if x.kind == writes && x.completed != (timestamp{}) && x.completed.before(k.clock) {
		advice = "The ranks are synchronized between the accesses, but the file is not. Call MPI_File_sync " +
			"before and after that synchronization, or use atomic mode."
	}
	does := map[kind]string{reads: "reads the file", writes: "writes the file"}
	c.report(&Finding{Kind: "race", File: y.file.name, Target: -1, First: at.low, Bytes: at.high - at.low,
		Advice: advice}, callRole{x.site, does[x.kind]}, callRole{y.site, does[y.kind]})
}

// completeFileAccess records that an access to a file is complete at its rank. The argument may be nil.
func (c *Checker) completeFileAccess(k *rank, a *access) {
	if a == nil || a.isDropped || a.isOver {
		return
	}
	if a.completed = k.now(); a.kind == reads {
		a.endInFile(a.completed)
		return
	}
	m := a.file.members[k.number]
	if n := len(m.unsynced); n > 0 && m.unsynced[n-1].continuesWith(a) {
		last := m.unsynced[n-1]
		a.file.space.remove(last)
		a.file.space.remove(a)
		last.spans = []span{{last.low(), a.high()}}
		a.file.space.add(last)
		return
	}
	m.unsynced = append(m.unsynced, a)
}

// continuesWith reports whether access a, made by the same call in the program, writes the bytes directly behind x or
// the same bytes again. Both accesses end with the next MPI_File_sync. Therefore one access can represent both.
func (x *access) continuesWith(a *access) bool {
	if x.site.address != a.site.address || len(x.spans) > 1 || len(a.spans) > 1 {
		return false
	}
	return a.low() == x.high() || a.spans[0] == x.spans[0]
}

// dropFileAccess forgets an access to a file that has failed, or whose completion will not be known. The argument may
// be nil.
func (c *Checker) dropFileAccess(a *access) {
	if a != nil && !a.isDropped && !a.isOver && !slices.Contains(a.file.members[a.site.rank].unsynced, a) {
		a.file.space.remove(a)
		a.isDropped = true
	}
}

// syncFile records that MPI_File_sync has returned at a rank.
func (c *Checker) syncFile(k *rank, e *event, m *fileMember) {
	for _, a := range m.unsynced {
		a.endInFile(k.now())
	}
	m.unsynced = nil
	if meet := e.call.collective; meet != nil {
		m.synced = meet.entered[k.number]
	} else {
		m.synced = k.clock.clone()
	}
}

// updateFile records how a call has changed the file pointer, the view and the mode of a file. The call has returned.
func (c *Checker) updateFile(k *rank, e *event, f *file) {
	m := f.members[k.number]
	a, is := splitFileAccess(e.name)
	switch {
	case is && e.Result != abi.MPI_SUCCESS:
		if !a.usesShared && !a.isExplicit && !a.isEnd {
			m.position = -1 // whether the call has moved the file pointer depends on the error
		}
		c.dropFileAccess(e.call.fileAccess)
	case is && !a.isAsync:
		c.completeFileAccess(k, e.call.fileAccess)
	case e.name == "MPI_File_sync":
		c.syncFile(k, e, m)
	case e.Result != abi.MPI_SUCCESS:
	case e.name == "MPI_File_seek":
		m.seekTo(e)
	case e.name == "MPI_File_get_position" && e.Out("offset").HasValue():
		m.seek(e.Thread, e.Out("offset").Int())
	case e.name == "MPI_File_set_view":
		m.view, m.position, m.thread = k.viewOf(e), 0, e.Thread
	case e.name == "MPI_File_set_atomicity":
		m.isAtomic = e.In("flag").Int() != 0
	}
}

func (m *fileMember) seekTo(e *event) {
	offset := e.In("offset").Int()
	switch whence := e.In("whence").Int(); {
	case whence == abi.MPI_SEEK_SET:
		m.seek(e.Thread, offset)
	case whence == abi.MPI_SEEK_CUR && m.position >= 0 && m.thread == e.Thread:
		m.seek(e.Thread, m.position+offset)
	default:
		m.seek(e.Thread, -1)
	}
}

// viewOf returns the view that a call of MPI_File_set_view sets.
func (k *rank) viewOf(e *event) fileView {
	etype, filetype := k.typeOf(e.In("etype").Uint()), k.typeOf(e.In("filetype").Uint())
	datarep, disp := e.In("datarep").Text(), e.In("disp").Int()
	if etype == nil || filetype == nil || disp < 0 || disp > 1<<61 || datarep != "native" && datarep != "internal" {
		return fileView{}
	}
	return fileView{disp: disp, etypeBytes: etype.size, filetype: filetype}
}

// forget removes the accesses that precede all future accesses to the file. The argument `all` is the minimum of the
// clocks of all ranks.
func (f *file) forget(all vector) {
	var synced vector
	for i, r := range f.comm.members {
		m := f.members[r]
		if m == nil {
			return
		}
		if i == 0 {
			synced = m.synced.clone()
		}
		synced = synced[:min(len(synced), len(m.synced))]
		for i := range synced {
			synced[i] = min(synced[i], m.synced[i])
		}
	}
	f.space.forget(func(a *access) bool {
		if a.kind == reads {
			return a.endedBefore(all)
		}
		return a.endedBefore(synced)
	})
}
