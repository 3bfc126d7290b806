package insight

import (
	"bytes"
	"fmt"
	"math/bits"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"gompirma/core/abi"
)

// Memory is the memory that gompirun shares with the ranks of a job.
type Memory struct {
	file     *os.File
	bytes    []byte // the words of the job as a whole
	mappings [][]byte
	parts    atomic.Pointer[[]*Rank]      // replaced by Add
	isMirror bool                         // the ranks run on other hosts; their parts here are copies
	read     func(i int, most uint64) int // reads records of rank i; nil while Follow does not run
}

// Rank is the part of the memory that belongs to a rank. Only one goroutine at a time may read its ring.
type Rank struct {
	part []byte
	ring []uint64
	tail uint64
	buf  []uint64
	err  error
	// The process has ended; Follow then frees the pages of the ring after it has read all records.
	hasEnded atomic.Bool
	isFreed  bool // the pages have been freed
	mirror
}

// Object is a file that a process has loaded: the program or a library. An address in the debug information is the
// address in the process minus Bias.
type Object struct {
	Low, High, Bias uint64
	Name            string
}

// Create creates the memory of a job with the given number of ranks, to which Add may add further jobs. The argument
// `ring` is the size of each ring in bytes, which Create rounds up to a power of two; 0 selects the default.
func Create(ranks int, mode Mode, ring int) (*Memory, error) {
	if ring == 0 {
		ring = DefaultRing
	}
	ring = 1 << bits.Len(uint(max(ring, MinRing)-1))
	fd, err := unix.MemfdCreate("gompirma-insight", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("cannot create shared memory for the records of MPI calls: %w", err)
	}
	m := &Memory{file: os.NewFile(uintptr(fd), "gompirma-insight")}
	m.parts.Store(new([]*Rank))
	if m.bytes, err = m.grow(0, JobSize); err != nil {
		m.file.Close()
		return nil, err
	}
	*u32(m.bytes, JobVersion) = Version
	*u32(m.bytes, JobMode) = uint32(mode)
	*u32(m.bytes, JobFunctions) = uint32(len(abi.Functions()))
	*u64(m.bytes, JobPartSize) = uint64(PartRing + ring)
	*u64(m.bytes, JobRingSize) = uint64(ring)
	*u64(m.bytes, JobMagic) = Magic
	if _, err = m.Add(ranks); err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

// grow extends the file by n bytes from the given offset, its end, and maps them.
func (m *Memory) grow(from int64, n int) ([]byte, error) {
	fd := int(m.file.Fd())
	err := unix.Ftruncate(fd, from+int64(n))
	var mapped []byte
	if err == nil {
		mapped, err = unix.Mmap(fd, from, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot create %d bytes of shared memory for the records of MPI calls: %w", n,
			err)
	}
	m.mappings = append(m.mappings, mapped)
	return mapped, nil
}

// Add adds the parts of the n ranks of a job. It returns the index of the first one. Only one goroutine at a time may
// call Add; others may use the memory.
func (m *Memory) Add(n int) (first int, err error) {
	ranks := slices.Clone(*m.parts.Load())
	first = len(ranks)
	if n == 0 {
		return first, nil
	}
	part := int(*u64(m.bytes, JobPartSize))
	mapped, err := m.grow(JobSize+int64(first)*int64(part), n*part)
	if err != nil {
		return 0, err
	}
	for i := range n {
		p := mapped[i*part:][:part:part]
		*u32(p, PartFirst) = uint32(first)
		ranks = append(ranks, &Rank{part: p, ring: words(p[PartRing:])})
	}
	atomic.StoreUint32(u32(m.bytes, JobRanks), uint32(len(ranks)))
	m.parts.Store(&ranks)
	return first, nil
}

// SetPart records that the process with a number on the node has the given part, for calls of processes of other jobs.
// The process has not been started yet.
func (m *Memory) SetPart(number, part int) {
	if number < MaxParts {
		atomic.StoreUint32(u32(m.bytes, JobParts+4*int64(number)), uint32(part+1))
	}
}

// File returns the file that the ranks inherit as the descriptor in EnvFd.
func (m *Memory) File() *os.File { return m.file }

// Ranks returns the number of ranks of all jobs.
func (m *Memory) Ranks() int { return len(*m.parts.Load()) }

// Rank returns the part of a rank.
func (m *Memory) Rank(i int) *Rank { return (*m.parts.Load())[i] }

// Ended declares that the process of a rank has ended.
func (r *Rank) Ended() { r.hasEnded.Store(true) }

// Mode returns what is recorded.
func (m *Memory) Mode() Mode { return Mode(atomic.LoadUint32(u32(m.bytes, JobMode))) }

// Close unmaps the memory. Running ranks keep their mappings.
func (m *Memory) Close() {
	for _, mapped := range m.mappings {
		unix.Munmap(mapped)
	}
	m.file.Close()
	m.bytes, m.mappings = nil, nil
	m.parts.Store(new([]*Rank))
}

// Pid returns the process id of the rank; 0 if it has not called MPI yet.
func (r *Rank) Pid() int { return int(atomic.LoadUint32(u32(r.part, PartPid))) }

// Threads returns the number of threads that have called MPI.
func (r *Rank) Threads() int { return int(atomic.LoadUint32(u32(r.part, PartThreads))) }

// RejectedProcesses returns the number of processes that called MPI while another process owned the part. Their calls
// are not recorded.
func (r *Rank) RejectedProcesses() int { return int(atomic.LoadUint32(u32(r.part, PartRejected))) }

// Dropped returns the number of calls that left no record because the ring was full.
func (r *Rank) Dropped() uint64 { return atomic.LoadUint64(u64(r.part, PartDropped)) }

// HasEssentialLoss reports whether a record has been lost that is needed to interpret other records.
func (r *Rank) HasEssentialLoss() bool { return atomic.LoadUint64(u64(r.part, PartEssentialLost)) > 0 }

// FailedTests returns the number of tests that found nothing and were therefore not recorded.
func (r *Rank) FailedTests() uint64 { return atomic.LoadUint64(u64(r.part, PartFailedTests)) }

// Clocks returns the values of CLOCK_MONOTONIC and CLOCK_REALTIME, in ns, at the rank's first call of MPI.
func (r *Rank) Clocks() (monotonic time.Duration, realtime int64) {
	return time.Duration(atomic.LoadUint64(u64(r.part, PartMonotonic))),
		int64(atomic.LoadUint64(u64(r.part, PartRealtime)))
}

// Objects returns the objects that the process has loaded, in order of loading. The call that a record describes was
// made from one of them, unless it was made from memory outside all objects or the table was full.
func (r *Rank) Objects() []Object {
	// The acquire pairs with the release in add_loaded_object (objects.c). Without it, this function could see a
	// new entry before the entry's fields.
	n := min(atomic.LoadUint32(u32(r.part, PartObjects)), MaxObjects)
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

// Read calls the function `use` with the words of each complete record, and frees the record's space in the ring. The
// words are valid until `use` returns. Read returns the number of records. It reads at most as many words as the ring
// has, so that a fast writer does not delay the other ranks. It returns an error if the process has overwritten the
// ring with an invalid record; later calls then read nothing.
//
// Read wakes the threads that wait for space after each half of the ring, and at its end. If it woke them for each
// record, they would sleep again at once.
func (r *Rank) Read(use func(words []uint64)) (n int, err error) {
	return r.readWords(uint64(len(r.ring)), use)
}

// readWords reads like Read, but starts no further record once it has read maxWords words.
func (r *Rank) readWords(maxWords uint64, use func(words []uint64)) (n int, err error) {
	size := uint64(len(r.ring))
	began, woken := r.tail, r.tail
	defer r.wake()
	for ; r.err == nil && r.tail-began < maxWords; n++ {
		at := r.tail % size
		// The acquire pairs with the release in copy_to_ring (capi/insight/record.c). Without it, this function
		// could see the first word before the other words of the record.
		head := atomic.LoadUint64(&r.ring[at])
		if head == 0 {
			break
		}
		length := head >> 32
		if length < HeadWords || length > MaxRecord {
			r.err = fmt.Errorf("the shared memory for records of calls is damaged (internal error): the "+
				"record at word %d has %d words; it must have %d to %d",
				r.tail, length, HeadWords, MaxRecord)
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

// wake wakes the threads that wait for space in the ring. Its partner is gompi_insight_await_reader
// (capi/insight/record.c). The waiter stores PartSpaceWanted and then loads PartTail. Read stores PartTail, and wake
// then loads PartSpaceWanted. All four accesses are sequentially consistent. Otherwise the waiter could see the old
// tail and sleep, while wake does not see the waiter.
func (r *Rank) wake() {
	if atomic.LoadUint32(u32(r.part, PartSpaceWanted)) != 0 && atomic.SwapUint32(u32(r.part, PartSpaceWanted),
		0) != 0 {
		atomic.AddUint32(u32(r.part, PartSpaceFutex), 1)
		futexWakeAll(u32(r.part, PartSpaceFutex))
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

// pollInterval is the longest sleep of a reader that finds nothing to read. It bounds the delay of records, because
// writers wake the reader only when a ring fills.
const pollInterval = 20 * time.Millisecond

// UpdateClock updates JobTick, the clock by which ranks measure long waits, every millisecond until stop is closed.
func (m *Memory) UpdateClock(stop <-chan struct{}) {
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

// ReadOneEach reads one record of each rank and passes it to Follow's onRecord. Only afterPass may call it. If
// afterPass runs for seconds, it must call ReadOneEach. Otherwise, after gompirun has read nothing for 10 s, a rank
// whose ring is full continues without records (capi/insight/record.c).
func (m *Memory) ReadOneEach() {
	if m.read == nil {
		return
	}
	for i := range m.Ranks() {
		m.read(i, 1)
	}
}

// Follow calls onRecord with the words of each record of each rank until the channel `stop` is closed. The caller
// closes the channel when the ranks have ended. Follow then passes the remaining records to onRecord and returns. The
// words are valid until onRecord returns. The records of one rank arrive in the order in which their calls returned;
// records of entries arrive in the order of entry. Records of two ranks arrive in any order.
//
// After each pass over all ranks, Follow calls afterPass with a time. onRecord has then received every record that
// causally precedes a record with that time or an earlier one. The time is the earlier of two times: CLOCK_MONOTONIC at
// the start of the pass, and the time up to which the records of all ranks have arrived (Reached). A record that is
// written later does not precede any record of that time. Follow also reads the parts that Add adds meanwhile.
func (m *Memory) Follow(stop <-chan struct{}, onRecord func(rank int, words []uint64) error,
	afterPass func(time.Duration)) error {
	var failed error
	m.read = func(i int, most uint64) int {
		n, err := m.Rank(i).readWords(most, func(words []uint64) {
			if err := onRecord(i, words); err != nil && failed == nil {
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
		defer func() { afterPass(began) }()
		for i, r := range *m.parts.Load() {
			if r.isFreed {
				continue
			}
			hasEnded := r.hasEnded.Load() // read before the records
			read := m.read(i, uint64(len(r.ring)))
			if n += read; hasEnded && read == 0 {
				r.isFreed = true
				_ = unix.Madvise(r.part[PartRing:], unix.MADV_REMOVE) // the pages may remain
			}
		}
		return n
	}
	doorbell, sleeping := u32(m.bytes, JobDoorbell), u32(m.bytes, JobReaderAsleep)
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
		seen := atomic.LoadUint32(doorbell)
		// The partner is wake_reader (capi/insight/record.c), which loads the flag after it has stored a
		// record. Its load is not ordered after the store. So the second pass may miss a record whose writer
		// does not see the flag. The timeout pollInterval bounds the delay.
		atomic.StoreUint32(sleeping, 1)
		if drain() == 0 {
			futexSleep(doorbell, seen, pollInterval)
		}
		atomic.StoreUint32(sleeping, 0)
	}
}
