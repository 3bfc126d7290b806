package shm

import (
	"fmt"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"gompirma/core/abi"
	"gompirma/core/limit"
	"gompirma/core/mpierr"
	"gompirma/core/random"
)

// Node is one process' view of the shared memory of its node. A Node is safe for concurrent use.
type Node struct {
	fd         int
	memory     backing
	control    []byte // the control segment, mapped for the life of the process
	heapOff    int64  // offset of the first heap region
	heapStride int64  // size of each heap region
	end        int64  // size of the memory
	Slots      int    // maximum number of processes on this node; their indices are below it
	Me         int    // index of this process; -1 in the launcher
	Cores      int    // cores that the processes of this node may use

	// Waiter implements the waits of this process. It is set before the first wait.
	Waiter Waiter

	heap     heap
	promises promises
	releaser releaser
	blocks   blocks
}

// CreateControl creates the shared memory of a node of n processes and returns its file, which is not close-on-exec, so
// that children inherit it. The argument `nodes` is the number of nodes that share this machine's cores: 1, or more if
// nodes are simulated.
func CreateControl(n, nodes int) (*os.File, error) {
	if n < 1 || n > MaxProcesses {
		return nil, fmt.Errorf("the number of processes on this node is %d; it must be from 1 to %d",
			n, MaxProcesses)
	}
	cores := max(usableCores()/nodes, 1)
	fd, memfdErr, err := create()
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "gompirma-control")
	slots := min(n+spawnSlots, MaxProcesses)
	size := ImageOffset(slots, slots)
	if memfdErr != nil {
		if err = createInSegment(fd, n, cores, memfdErr); err != nil {
			err = fmt.Errorf("%w%s", err, memfdAdvice)
		}
	} else if err = memfd(fd).grow(size); err == unix.EFBIG {
		err = createInSegment(fd, n, cores,
			fmt.Errorf("the file size limit is below %d bytes (ulimit -f)", size))
	} else if err == nil {
		err = createIn(memfd(fd), n, slots, cores, 0)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("cannot reserve the address space for %d processes: %w", n, err)
	}
	return f, nil
}

// spawnSlots is the number of processes that can be added to a node. They need no memory until they exist, except for 8
// bytes in the cell of each process, but each process reserves the address space of their message inboxes.
const spawnSlots = 128

// createInSegment creates the memory in a System V segment and writes its id to the header in the file. No processes
// can be added. The argument `memfdErr` is the reason why the file itself cannot hold the memory.
func createInSegment(fd, n, cores int, memfdErr error) error {
	if err := memfd(fd).growHeader(); err != nil {
		return err
	}
	id, err := makeSegment()
	if err != nil {
		return fmt.Errorf("%w, and shmget: %w", memfdErr, err)
	}
	s, err := attachSegment(id, PageSize)
	if err == nil {
		err = createIn(s, n, n, cores, id+1)
	}
	if err == nil {
		err = writeHeader(memfd(fd), n, n, cores, id+1)
	}
	return err
}

// createIn allocates the memory of the header and the cells at once, and writes the header. If memory is short, it
// returns an error. If pages were allocated at their first access instead, the first barrier would end with SIGBUS.
func createIn(m backing, n, slots, cores, segment int) error {
	if err := m.alloc(0, CellOffset(slots, n)); err != nil {
		return fmt.Errorf("cannot allocate %d bytes of shared memory: %w", CellOffset(slots, n), err)
	}
	return writeHeader(m, n, slots, cores, segment)
}

func writeHeader(m backing, n, slots, cores, segment int) error {
	p, err := m.mapping(nil, 0, HeaderSize)
	if err != nil {
		return fmt.Errorf("cannot map the header of the shared memory: %w", err)
	}
	header := bytesAt(p, HeaderSize)
	defer unmap(header)
	*u32(header, headerLayoutVersion) = Layout
	*u32(header, headerProcessCount) = uint32(n)
	*u32(header, headerSlotCount) = uint32(slots)
	*u32(header, headerCreatorPid) = uint32(os.Getpid())
	*u32(header, headerCoreCount) = uint32(cores)
	*u32(header, headerSegment) = uint32(segment)
	if err := random.Read(header[headerUniverse : headerUniverse+8]); err != nil {
		return err
	}
	atomic.StoreUint64(u64(header, headerMagic), Magic)
	return nil
}

func usableCores() int {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil || set.Count() == 0 {
		return 1
	}
	return set.Count()
}

// Open maps the shared memory behind fd for process me (-1: an observer, such as the launcher) and validates its
// header. Errors: MPI_ERR_OTHER if the memory is not a control segment, its layout version differs, or `me` is out of
// range; MPI_ERR_NO_MEM if it cannot be mapped.
func Open(fd, me int) (*Node, error) {
	header, err := unix.Mmap(fd, 0, HeaderSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, mpierr.New(abi.MPI_ERR_OTHER, "cannot map the shared memory of the node (file descriptor "+
			"%d): %v", fd, err)
	}
	magic, layout := atomic.LoadUint64(u64(header, headerMagic)), *u32(header, headerLayoutVersion)
	n, cores := int(atomic.LoadUint32(u32(header, headerProcessCount))), int(*u32(header, headerCoreCount))
	slots, segment := int(*u32(header, headerSlotCount)), int(*u32(header, headerSegment))
	unix.Munmap(header)
	if magic != Magic || layout != Layout {
		return nil, mpierr.New(abi.MPI_ERR_OTHER,
			"file descriptor %d (magic %#x, layout %d) is not shared memory of this version of gompirma "+
				"(layout %d): install gompirun and the library of the same version", fd, magic, layout,
			Layout)
	}
	if n < 1 || n > slots || slots > MaxProcesses || me < -1 || me >= n {
		return nil, mpierr.New(abi.MPI_ERR_OTHER,
			"the shared memory of the node is invalid: it has no process %d of %d", me, n)
	}
	nd := &Node{fd: fd, Slots: slots, Me: me, Cores: cores}
	nd.releaser.init(n, cores)
	if segment == 0 {
		err = nd.openMemfd()
	} else {
		err = nd.openSegment(segment - 1)
	}
	if err != nil {
		return nil, noMapping(ControlSize(slots), err)
	}
	if me >= 0 {
		// Memory of an earlier process with this index may still be mapped, so its offsets are not used again.
		region := nd.heapOff + int64(me)*nd.heapStride
		base := max(region, roundUp(atomic.LoadInt64(nd.i64(me, CellHeapPeak)), HugePage))
		atomic.StoreInt64(nd.i64(me, CellHeapBase), base)
		nd.heap.init(base, region+nd.heapStride-base, nd.i64(me, CellHeapPeak))
		nd.promises.credit = firstCredit
		nd.promises.headroom = func(wanted int64) limit.Headroom { return limit.Memory("/", wanted) }
		atomic.StoreInt32(nd.i32(me, CellPid), int32(os.Getpid()))
		nd.SetState(me, Opening)
	}
	return nd, nil
}

func (nd *Node) openMemfd() error {
	nd.memory = memfd(nd.fd)
	nd.heapOff, nd.heapStride, nd.end = HeapOffset(nd.Slots, 0), HeapStride, ImageOffset(nd.Slots, nd.Slots)
	p, err := nd.memory.mapping(nil, 0, ControlSize(nd.Slots))
	if err == nil {
		nd.control = bytesAt(p, ControlSize(nd.Slots))
	}
	return err
}

func (nd *Node) openSegment(id int) error {
	s, err := attachSegment(id, ControlSize(nd.Slots))
	if err != nil {
		return err
	}
	nd.memory, nd.control = s, bytesAt(s.base, ControlSize(nd.Slots))
	nd.heapOff = roundUp(ControlSize(nd.Slots), HugePage)
	nd.heapStride = min((segmentSize-nd.heapOff)/int64(nd.Slots)/HugePage*HugePage, HeapStride)
	nd.end = nd.heapOff + int64(nd.Slots)*nd.heapStride
	return nil
}

// Close waits for the background release and unmaps the control segment. The Node must not be used afterwards.
func (nd *Node) Close() {
	nd.WaitReleased()
	unmap(nd.control)
	unix.Close(nd.fd)
	nd.control = nil
}

// Count returns the number of processes that exist or have existed on this node. Their indices are 0 to Count()-1.
func (nd *Node) Count() int { return int(atomic.LoadUint32(u32(nd.control, headerProcessCount))) }

// IsOversubscribed returns whether there are fewer cores than processes, so that a waiting thread should yield its
// core.
func (nd *Node) IsOversubscribed() bool { return nd.Count() > nd.Cores }

// AddProcesses makes room for n more processes and returns the index of the first one. The launcher calls it before it
// starts them. It fails if the node has no n free slots, or if memory is short.
func (nd *Node) AddProcesses(n int) (first int, err error) {
	for {
		first, err = nd.tryAddProcesses(n)
		if first >= 0 {
			return first, err
		}
	}
}

// tryAddProcesses is AddProcesses, but returns -1 if another launcher has added processes at the same time.
func (nd *Node) tryAddProcesses(n int) (first int, err error) {
	first = nd.Count()
	if n > nd.Slots-first {
		return 0, fmt.Errorf("%d of the %d processes that a node can have in the course of a job have been "+
			"started; %d more are not possible", first, nd.Slots, n)
	}
	offset := CellOffset(nd.Slots, first)
	if err := nd.memory.alloc(offset, CellOffset(nd.Slots, first+n)-offset); err != nil {
		return 0, fmt.Errorf("cannot allocate the shared memory of %d processes: %w", n, err)
	}
	if !atomic.CompareAndSwapUint32(u32(nd.control, headerProcessCount), uint32(first), uint32(first+n)) {
		return -1, nil
	}
	return first, nil
}

// Reclaim makes the indices first to first+n-1 usable for other processes, and releases the memory of the processes
// that had them. The launcher calls it when these processes have ended.
func (nd *Node) Reclaim(first, n int) {
	for i := first; i < first+n; i++ {
		base, peak := *nd.i64(i, CellHeapBase), *nd.i64(i, CellHeapPeak)
		if peak > base {
			nd.memory.release(base, peak-base)
		}
		generation := *nd.u32(i, CellGeneration)
		clear(nd.cell(i)[:CellBytes])
		*nd.u32(i, CellGeneration), *nd.i64(i, CellHeapPeak) = generation+1, peak
	}
}

// Generation returns the number of processes that have had the index of this process before.
func (nd *Node) Generation() uint32 { return *nd.u32(nd.Me, CellGeneration) }

// Image returns the location of this process' image: the descriptor of the memfd and the offset in it. It returns ok =
// false if there are no images.
func (nd *Node) Image() (fd int, off int64, ok bool) {
	return nd.fd, ImageOffset(nd.Slots, nd.Me), nd.end > ImageOffset(nd.Slots, nd.Me)
}

// Fd returns the descriptor of the memfd.
func (nd *Node) Fd() int { return nd.fd }

// Control returns the bytes of the control segment; C receives its address.
func (nd *Node) Control() []byte { return nd.control }

// Pid returns the process id of process i, which process i writes when it starts; 0 before.
func (nd *Node) Pid(i int) int { return int(atomic.LoadInt32(nd.i32(i, CellPid))) }

// State returns the state of process i.
func (nd *Node) State(i int) State { return State(atomic.LoadUint32(nd.u32(i, CellState))) }

// SetState sets the state of process i.
func (nd *Node) SetState(i int, s State) { atomic.StoreUint32(nd.u32(i, CellState), uint32(s)) }

// SetRunning records that this process can receive messages, and wakes the processes that wait for that.
func (nd *Node) SetRunning() {
	nd.SetState(nd.Me, Running)
	nd.wakeSleepers()
}

// NoteEnded records that process i has ended without an error. The launcher calls it.
func (nd *Node) NoteEnded(i int) {
	nd.SetState(i, Finalized)
	nd.wakeSleepers()
}

func (nd *Node) wakeSleepers() {
	for i := range nd.Count() {
		nd.Wake(i)
	}
}

// Universe returns the number that identifies the processes which share this memory.
func (nd *Node) Universe() uint64 { return *u64(nd.control, headerUniverse) }

// FailedCount returns how many processes are known to have failed.
func (nd *Node) FailedCount() int {
	revocations := atomic.LoadUint32(u32(nd.control, headerRevocationCount))
	return int(atomic.LoadUint32(u32(nd.control, headerFailedCount)) - revocations)
}

// MarkFailed records that process i has failed. Waits for process i on this node then end with an error. The launcher,
// which reaps the process, calls it. Under other launchers, a process that detects the failure calls it.
func (nd *Node) MarkFailed(i int) {
	for {
		old := nd.State(i)
		if old == Failed || old == Finalized {
			return
		}
		if atomic.CompareAndSwapUint32(nd.u32(i, CellState), uint32(old), uint32(Failed)) {
			break
		}
	}
	nd.RecheckWaits()
}

// MarkRemoteFailed records that a process of another node, given by its number, has ended without MPI_Finalize. It
// ends the waits for the process on this node.
func (nd *Node) MarkRemoteFailed(rank int) {
	i, entry := 0, func(i int) *uint32 { return u32(nd.control, int64(headerFailedProcesses+8*i)) }
	for i < FailedEntries && !atomic.CompareAndSwapUint32(entry(i), 0, uint32(rank)+1) {
		if atomic.LoadUint32(entry(i)) == uint32(rank)+1 {
			return
		}
		i++
	}
	if i < FailedEntries {
		atomic.StoreUint32(u32(nd.control, int64(headerFailedProcesses+8*i+4)), FailedEnded)
	} else {
		atomic.StoreUint32(u32(nd.control, headerFailedOverflow), 1)
	}
	nd.RecheckWaits()
}

// FirstRemoteFailed returns the number of that failed process of another node which was recorded first.
// It returns -1 if none has been recorded.
func (nd *Node) FirstRemoteFailed() int {
	return int(int32(atomic.LoadUint32(u32(nd.control, headerFailedProcesses)) - 1))
}

// RecheckWaits makes every wait on the node check whether it depends on a failed process of any node.
func (nd *Node) RecheckWaits() {
	atomic.AddUint32(u32(nd.control, headerFailedCount), 1)
	for j := range nd.Count() {
		nd.wakeAll(j, CellWakeSeq)
		nd.wakeAll(j, CellDoorbell) // the progress thread wakes those on other words (capi/base/wait.c)
	}
}

// AnnounceEnd records that the launcher is about to end the job. The launcher calls it for every node before it signals
// the first rank. A rank that then detects the end of another rank knows that the launcher may have caused it, and
// reports no failure.
func (nd *Node) AnnounceEnd() { atomic.StoreUint32(u32(nd.control, headerJobIsEnding), 1) }

// EndAnnounced returns whether AnnounceEnd has been called for this node.
func (nd *Node) EndAnnounced() bool {
	return atomic.LoadUint32(u32(nd.control, headerJobIsEnding)) != 0
}

// FindFailed detects processes of this node that have ended without MPI_Finalize and marks them. It is needed under
// launchers other than gompirun, which do not mark failed processes.
func (nd *Node) FindFailed() {
	for i := range nd.Count() {
		if pid := nd.Pid(i); pid > 0 && nd.State(i).isAlive() && unix.Kill(pid, 0) == unix.ESRCH {
			nd.MarkFailed(i)
		}
	}
}
