package insight

import (
	"bytes"
	"fmt"
	"math/bits"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"gompirma/core/abi"
)

// Memory is what gompirun shares with the ranks of a job.
type Memory struct {
	file    *os.File
	bytes   []byte
	ranks   []*Rank
	mirrors bool                         // of ranks that are elsewhere
	read    func(i int, most uint64) int // reads records of a rank for Follow; nil: Follow does not run
}

// Rank is the part of a rank. One goroutine at a time reads its ring.
type Rank struct {
	part []byte
	ring []uint64
	tail uint64
	buf  []uint64
	err  error
	mirror
}

// Object is something that a process has loaded: the program, a library. Addresses of debug information are those of
// the process without the bias.
type Object struct {
	Low, High, Bias uint64
	Name            string
}

// Create makes the memory of a job with so many ranks. The size of each ring is rounded up to a power of two, 0: the
// usual one.
func Create(ranks int, mode Mode, ring int) (*Memory, error) {
	if ring == 0 {
		ring = DefaultRing
	}
	ring = 1 << bits.Len(uint(max(ring, MinRing)-1))
	fd, err := unix.MemfdCreate("gompirma-insight", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("memory for what is recorded: %w", err)
	}
	m := &Memory{file: os.NewFile(uintptr(fd), "gompirma-insight")}
	part := PartRing + ring
	size := JobSize + ranks*part
	if err = unix.Ftruncate(fd, int64(size)); err == nil {
		m.bytes, err = unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	}
	if err != nil {
		m.file.Close()
		return nil, fmt.Errorf("memory for what is recorded, %d bytes: %w", size, err)
	}
	*u32(m.bytes, JobVersion) = Version
	*u32(m.bytes, JobMode) = uint32(mode)
	*u32(m.bytes, JobRanks) = uint32(ranks)
	*u32(m.bytes, JobFunctions) = uint32(len(abi.Functions()))
	*u64(m.bytes, JobPartSize) = uint64(part)
	*u64(m.bytes, JobRingSize) = uint64(ring)
	*u64(m.bytes, JobMagic) = Magic
	for i := range ranks {
		p := m.bytes[JobSize+i*part:][:part:part]
		m.ranks = append(m.ranks, &Rank{part: p, ring: words(p[PartRing:])})
	}
	return m, nil
}

// File is what the ranks inherit, as the descriptor that EnvFd names.
func (m *Memory) File() *os.File { return m.file }

// Ranks returns how many there are.
func (m *Memory) Ranks() int { return len(m.ranks) }

// Rank returns the part of a rank.
func (m *Memory) Rank(i int) *Rank { return m.ranks[i] }

// Mode returns what is recorded.
func (m *Memory) Mode() Mode { return Mode(atomic.LoadUint32(u32(m.bytes, JobMode))) }

// Close gives the memory back. Ranks that still run keep what is theirs.
func (m *Memory) Close() {
	unix.Munmap(m.bytes)
	m.file.Close()
	m.bytes, m.ranks = nil, nil
}

// Pid returns the process that is the rank, 0: none has called MPI yet.
func (r *Rank) Pid() int { return int(atomic.LoadUint32(u32(r.part, PartPid))) }

// Threads returns how many threads have called MPI.
func (r *Rank) Threads() int { return int(atomic.LoadUint32(u32(r.part, PartThreads))) }

// Others returns how many processes called MPI although another was the rank already. Nothing is known of them.
func (r *Rank) Others() int { return int(atomic.LoadUint32(u32(r.part, PartOthers))) }

// Dropped returns how many calls left no record because the ring was full.
func (r *Rank) Dropped() uint64 { return atomic.LoadUint64(u64(r.part, PartDropped)) }

// Broken reports whether some of these were of calls on which the meaning of others depends.
func (r *Rank) Broken() bool { return atomic.LoadUint64(u64(r.part, PartBroken)) > 0 }

// Polls returns how many tests found nothing and were not recorded for that.
func (r *Rank) Polls() uint64 { return atomic.LoadUint64(u64(r.part, PartPolls)) }

// Clocks returns what CLOCK_MONOTONIC and CLOCK_REALTIME, in ns, were when the rank called MPI first.
func (r *Rank) Clocks() (monotonic time.Duration, realtime int64) {
	return time.Duration(atomic.LoadUint64(u64(r.part, PartMonotonic))),
		int64(atomic.LoadUint64(u64(r.part, PartRealtime)))
}

// Objects returns what the process has loaded, the latest last. The address of each record's caller is in one of them
// unless it is in none at all, or there was no room for more.
func (r *Rank) Objects() []Object {
	n := min(atomic.LoadUint32(u32(r.part, PartObjects)), MaxObjects) // pairs with the release in objects.c
	names := r.part[PartNameAt:][:NamesSize]
	objects := make([]Object, n)
	for i := range objects {
		at := int64(PartTable + i*ObjectSize)
		objects[i] = Object{Low: *u64(r.part, at+ObjectLow), High: *u64(r.part, at+ObjectHigh),
			Bias: *u64(r.part, at+ObjectBias)}
		if from := *u64(r.part, at+ObjectName); from < NamesSize {
			name, _, _ := bytes.Cut(names[from:], []byte{0})
			objects[i].Name = string(name)
		}
	}
	return objects
}

// Read calls use with each complete record, as words that are valid until use returns, and makes room in the ring. It
// returns how many there were; it reads no more than a ring full, so that other ranks are not kept waiting. An error:
// what is there is no record, since the process has written to where it must not; no more is read then.
//
// Threads that wait for room are woken when half of the ring has been read, or all that was there: a thread that is
// woken for each record would sleep again at once.
func (r *Rank) Read(use func(words []uint64)) (n int, err error) {
	return r.readMost(uint64(len(r.ring)), use)
}

// readMost is Read that begins no record after it has read most words.
func (r *Rank) readMost(most uint64, use func(words []uint64)) (n int, err error) {
	size := uint64(len(r.ring))
	began, woken := r.tail, r.tail
	defer r.wake()
	for ; r.err == nil && r.tail-began < most; n++ {
		at := r.tail % size
		head := atomic.LoadUint64(&r.ring[at]) // pairs with the release in capi/insight/record.c
		if head == 0 {
			break
		}
		length := head >> 32
		if length < HeadWords || length > MaxRecord {
			r.err = fmt.Errorf("record at %d has %d words", r.tail, length)
			break
		}
		first := min(length, size-at)
		r.buf = append(append(r.buf[:0], r.ring[at:at+first]...), r.ring[:length-first]...)
		clear(r.ring[at : at+first])
		clear(r.ring[:length-first])
		r.tail += length
		atomic.StoreUint64(u64(r.part, PartTail), r.tail)
		if r.tail-woken >= size/2 {
			r.wake()
			woken = r.tail
		}
		use(r.buf)
	}
	return n, r.err
}

// wake wakes the threads that wait for room in the ring.
func (r *Rank) wake() {
	if atomic.LoadUint32(u32(r.part, PartFull)) != 0 && atomic.SwapUint32(u32(r.part, PartFull), 0) != 0 {
		atomic.AddUint32(u32(r.part, PartRoom), 1)
		futexWakeAll(u32(r.part, PartRoom))
	}
}

// monotonic returns CLOCK_MONOTONIC.
func monotonic() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// How long a reader sleeps at most when there is nothing to read: who writes wakes it only when a ring fills.
const nap = 20 * time.Millisecond

// Tick keeps the word of the time that ranks count long waits by, until stop is closed.
func (m *Memory) Tick(stop <-chan struct{}) {
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for {
		var now unix.Timespec
		unix.ClockGettime(unix.CLOCK_MONOTONIC, &now)
		atomic.StoreUint32(u32(m.bytes, JobTick), uint32(now.Nano()/1e6))
		select {
		case <-stop:
			return
		case <-ticker.C:
		}
	}
}

// ReadOne reads one record of each rank for Follow, whose use it calls. Only looked may call it, and must if it takes
// seconds: a rank whose ring is full continues without records if none is read for 10 s (capi/insight/record.c).
func (m *Memory) ReadOne() {
	if m.read == nil {
		return
	}
	for i := range m.ranks {
		m.read(i, 1)
	}
}

// Follow calls use with the words of the records of all ranks until stop is closed, and then with those that are left:
// the ranks have ended by then. Those of one rank come in the order in which their calls returned, or in which those
// were entered that have a record of that; nothing is promised of those of two. The words are valid until use returns.
//
// After each look at all of them it calls looked with a time: no record that depends on one which it has not been given
// is older. It is CLOCK_MONOTONIC when the look began, or what all ranks have Reached; whatever was written later
// depends on nothing earlier.
func (m *Memory) Follow(stop <-chan struct{}, use func(rank int, words []uint64) error,
	looked func(time.Duration)) error {
	var failed error
	m.read = func(i int, most uint64) int {
		n, err := m.ranks[i].readMost(most, func(words []uint64) {
			if err := use(i, words); err != nil && failed == nil {
				failed = fmt.Errorf("rank %d: %w", i, err)
			}
		})
		if err != nil && failed == nil {
			failed = fmt.Errorf("rank %d: %w", i, err)
		}
		return n
	}
	defer func() { m.read = nil }()
	drain := func() (n int) {
		began := m.reached(monotonic())
		defer func() { looked(began) }()
		for i, r := range m.ranks {
			n += m.read(i, uint64(len(r.ring)))
		}
		return n
	}
	bell, sleeping := u32(m.bytes, JobBell), u32(m.bytes, JobSleeping)
	for {
		select {
		case <-stop:
			for drain() > 0 {
			}
			return failed
		default:
		}
		if drain() > 0 {
			continue
		}
		seen := atomic.LoadUint32(bell)
		atomic.StoreUint32(sleeping, 1)
		if drain() == 0 {
			futexSleep(bell, seen, nap)
		}
		atomic.StoreUint32(sleeping, 0)
	}
}
