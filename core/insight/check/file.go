package check

import (
	"fmt"
	"strconv"
	"strings"

	"gompirma/core/abi"
)

// fileAccess describes a function that accesses the data of a file (MPI-5.0 14.4).
type fileAccess struct {
	kind       kind // writes if the function writes the file
	isBegin    bool // begins a split collective
	isEnd      bool // ends a split collective
	isAsync    bool // the access may be active after the function has returned
	isExplicit bool // has an explicit offset
	usesShared bool // uses the shared file pointer
}

// splitFileAccess returns the description of a function, given its name without the suffix _c. The result `is` is false
// if the function accesses no data of a file.
func splitFileAccess(name string) (a fileAccess, is bool) {
	rest, is := strings.CutPrefix(name, "MPI_File_")
	if !is {
		return a, false
	}
	rest, a.isAsync = strings.CutPrefix(rest, "i")
	if rest, is = strings.CutPrefix(rest, "write"); is {
		a.kind = writes
	} else if rest, is = strings.CutPrefix(rest, "read"); !is {
		return a, false
	}
	a.isBegin, a.isEnd = strings.HasSuffix(rest, "_begin"), strings.HasSuffix(rest, "_end")
	a.isAsync = a.isAsync || a.isBegin
	a.isExplicit = strings.HasPrefix(rest, "_at")
	a.usesShared = strings.HasPrefix(rest, "_shared") || strings.HasPrefix(rest, "_ordered")
	return a, true
}

// bufferKind returns how the access uses the buffer of the call: a write to the file reads the buffer.
func (a *fileAccess) bufferKind() kind {
	if a.kind == writes {
		return reads
	}
	return writes
}

// beginsSplit reports whether a call has begun a split collective.
func beginsSplit(e *event) bool {
	a, is := splitFileAccess(e.name)
	return is && a.isBegin && e.Result == abi.MPI_SUCCESS
}

// file is a file, shared by the processes that have opened it together.
type file struct {
	name       string // as the program has passed it
	comm       *comm  // the members of the file's communicator, and their collective calls on the file
	isReadOnly bool
	members    map[int]*fileMember // by rank
	space      *space              // accesses to the bytes of the file
	closeCount int                 // number of members that have closed it
}

// equalArguments returns the arguments of a collective call on a file that must be equal at all members.
func (k *rank) equalArguments(e *event, base string) []argument {
	number := func(name string) argument { return argument{name, strconv.FormatInt(e.In(name).Int(), 10)} }
	switch base {
	case "File_open":
		return []argument{{"amode", amodeText(e.In("amode").Int())}}
	case "File_set_view":
		etype := argument{name: "etype"}
		if t := k.typeOf(e.In("etype").Uint()); t != nil {
			etype.value = fmt.Sprintf("%d", t.extent())
		}
		return []argument{etype, {"datarep", e.In("datarep").Text()}}
	case "File_set_size", "File_preallocate":
		return []argument{number("size")}
	case "File_set_atomicity":
		return []argument{{"flag", strconv.FormatBool(e.In("flag").Int() != 0)}}
	case "File_seek_shared":
		return []argument{number("whence"), number("offset")}
	}
	return nil
}

// amodeText returns the names of the constants in an access mode.
func amodeText(amode int64) string {
	var names []string
	for _, n := range []struct {
		bit  int64
		name string
	}{{abi.MPI_MODE_RDONLY, "RDONLY"}, {abi.MPI_MODE_RDWR, "RDWR"}, {abi.MPI_MODE_WRONLY, "WRONLY"},
		{abi.MPI_MODE_CREATE, "CREATE"}, {abi.MPI_MODE_EXCL, "EXCL"},
		{abi.MPI_MODE_DELETE_ON_CLOSE, "DELETE_ON_CLOSE"}, {abi.MPI_MODE_UNIQUE_OPEN, "UNIQUE_OPEN"},
		{abi.MPI_MODE_SEQUENTIAL, "SEQUENTIAL"}, {abi.MPI_MODE_APPEND, "APPEND"}} {
		if amode&n.bit != 0 {
			names = append(names, "MPI_MODE_"+n.name)
			amode &^= n.bit
		}
	}
	if amode != 0 || len(names) == 0 {
		names = append(names, fmt.Sprintf("%#x", amode))
	}
	return strings.Join(names, "|")
}

// openFile records that a rank has returned from MPI_File_open.
func (c *Checker) openFile(k *rank, e *event) {
	meet := e.call.collective
	if meet == nil || !e.Out("fh").HasValue() {
		return
	}
	if meet.file == nil {
		name := e.In("filename").Text()
		meet.file = &file{name: name, comm: &comm{name: "file '" + name + "'", members: meet.comm.members,
			unknownCount: meet.comm.unknownCount}, members: map[int]*fileMember{}, space: newSpace(),
			isReadOnly: e.In("amode").Int()&abi.MPI_MODE_RDONLY != 0}
		c.openFiles[meet.file] = true
	}
	k.files[e.Out("fh").Uint()] = meet.file
	meet.file.members[k.number] = newFileMember(k, e)
}

// closeFile records that a rank has returned from MPI_File_close.
func (c *Checker) closeFile(k *rank, e *event) {
	h := e.In("fh").Uint()
	// Before this call returned, another thread may have received the same handle for a new file.
	if f := k.files[h]; f != nil && (e.call.collective == nil || f.comm == e.call.collective.comm) {
		delete(k.files, h)
		if f.closeCount++; f.closeCount == len(f.comm.members)-f.comm.unknownCount {
			delete(c.openFiles, f)
		}
	}
}

// closesFile reports whether a call has closed a file. MPI_File_close may have done so even if it returns an error.
func closesFile(e *event) bool {
	return e.name == "MPI_File_close" && e.Out("fh").Uint() == abi.MPI_FILE_NULL
}

// leaveFile records the effect of a call on a file.
func (c *Checker) leaveFile(k *rank, e *event) {
	if !strings.HasPrefix(e.name, "MPI_File_") {
		return
	}
	succeeded := e.Result == abi.MPI_SUCCESS
	if meet := e.call.collective; meet != nil && !succeeded {
		meet.leaveMember(k) // if the call fails, it fails at all members, so all of them have left
	}
	if f := k.files[e.In("fh").Uint()]; f != nil && c.follow == nil {
		c.updateFile(k, e, f)
	}
	if e.name == "MPI_File_open" && succeeded {
		c.openFile(k, e)
	} else if closesFile(e) {
		c.closeFile(k, e)
	}
	a, is := splitFileAccess(e.name)
	if !is {
		return
	}
	h := e.In("fh").Uint()
	if beginsSplit(e) {
		r := &request{meeting: e.call.collective}
		k.activate(r, e)
		k.splits[h] = r
	} else if r := k.splits[h]; r != nil && a.isEnd {
		c.finishStrictly(k, e.Thread, r)
		c.finishOperation(k, r, nil)
		delete(k.splits, h)
	}
}
