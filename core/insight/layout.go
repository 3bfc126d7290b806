package insight

// Mode selects what is recorded.
type Mode uint32

// The bits of a mode.
const (
	Stats   Mode = 1 << iota // calls are counted
	Records                  // calls are recorded
	Entries                  // calls that may wait are also recorded at entry
	// A thread that finds the ring full waits for space. Without this bit, its record is dropped, and the drop is
	// counted.
	WaitForSpace
	FailedTests     // tests that found nothing are also recorded, instead of only counted
	ProgramAccesses // the program's own memory accesses are also recorded, if it reports them
	// A call waits until gompirun has checked it, so that the call itself can raise an error for a conflict. This
	// applies to functions for which ErrorParam (sync_check.go) does not return nil.
	SyncCheck
)

// The layout of the shared memory, as offsets and sizes in bytes. core/abi/gen writes it into
// capi/insight/generated/layout.h.
const (
	Magic   = 0x676d70696e736967 // "gmpinsig"
	Version = 5

	JobMagic   = 0
	JobVersion = 8  // uint32
	JobMode    = 12 // uint32
	JobRanks   = 16 // uint32: number of parts
	// uint32: a futex. Ranks wake gompirun by it, if gompirun sleeps and there are records to read.
	JobDoorbell     = 20
	JobReaderAsleep = 24 // uint32: 1 if gompirun sleeps
	JobFunctions    = 28 // uint32: number of functions in the table
	JobPartSize     = 32
	JobRingSize     = 40
	JobTick         = 64 // uint32, on a cache line of its own: CLOCK_MONOTONIC in ms while calls are counted
	// A uint32 for each process of the node, by its number (capi/base/process.h): its part + 1; 0 if unknown. It is
	// used for processes of other jobs.
	JobParts = 4096
	MaxParts = 4096 // number of entries
	JobSize  = JobParts + 4*MaxParts

	PartPid         = 0  // uint32: the process that owns the part; 0 if none
	PartThreads     = 4  // uint32: number of threads that have called MPI
	PartRejected    = 8  // uint32: number of further processes that wanted the part while a process owned it
	PartSpaceFutex  = 12 // uint32, a futex: changes when space in the ring becomes free
	PartSpaceWanted = 16 // uint32: 1 if a thread waits for space in the ring
	PartObjects     = 20 // uint32: number of known objects
	PartNames       = 24 // uint32: bytes of object names in use
	PartObjectsLost = 28 // uint32: number of objects that did not fit into the table
	PartMonotonic   = 32 // CLOCK_MONOTONIC, then CLOCK_REALTIME, when the process acquired the part, in ns
	PartRealtime    = 40
	PartFirst       = 48  // uint32: index of the part of rank 0 of the process' job
	PartHead        = 64  // position of the next record, in words; on a cache line of its own
	PartTail        = 128 // position up to which gompirun has read
	PartDropped     = 192 // number of calls whose records did not fit
	PartFailedTests = 200 // number of tests that found nothing
	// Number of lost records whose loss makes other records meaningless: of functions for which IsDroppable returns
	// false, and of entries.
	PartEssentialLost = 208
	PartChecked       = 216 // position in the ring, in words, up to which calls have been checked
	PartConflicts     = 224 // uint32: number of the rank's calls that made the later access of a conflict
	PartCheckWanted   = 228 // uint32: 1 if a thread waits for the result of a check
	PartCheckFutex    = 232 // uint32, a futex: changes with each result

	PartTicks        = 256 // value of the counters' clock, in ticks, when the process acquired the part
	PartTicksNow     = 264 // the counters' clock and CLOCK_MONOTONIC at a later time; 0 if not recorded yet
	PartMonotonicNow = 272
	PartEnded        = 280  // CLOCK_MONOTONIC at the return of MPI_Finalize; 0 before
	PartUncounted    = 288  // uint32: number of threads that found no free slot; they are not counted
	PartWindows      = 292  // uint32: number of known windows
	PartFileCounts   = 296  // four numbers: the fields of FileCounts, stored in MPI_Finalize
	PartOwners       = 512  // a uint32 for each slot: 1 if a thread owns the slot
	PartConflictEnds = 1024 // ring positions: ends of the records of the latest calls that PartConflicts counts
	MaxConflictEnds  = 256
	PartTable        = 4096

	ObjectLow  = 0 // address range of an object: low, high
	ObjectHigh = 8
	ObjectBias = 16 // load bias: address in the process minus address in the file
	ObjectName = 24 // offset of its zero-terminated name among the names
	ObjectSize = 32
	MaxObjects = 512
	PartNameAt = PartTable + MaxObjects*ObjectSize
	NamesSize  = 48 << 10

	WindowHandle    = 0  // 0 after the window is freed
	WindowFirstRank = 8  // int32: index of the first member's part; -1 if unknown
	WindowMembers   = 12 // uint32
	WindowOrdinal   = 16 // uint32: index among the windows with the same first rank and size
	WindowHasPaths  = 20 // uint32: 1 if operations are counted by path
	WindowLabel     = 24 // the window's name
	LabelSize       = 104
	WindowSize      = WindowLabel + LabelSize
	MaxWindows      = 64 // the last entry holds the sums of all further windows
	PartWindowAt    = PartNameAt + NamesSize
	// Operations of each window by kind and path, as numbers of calls and bytes. The library updates them.
	PathsSize   = int(Fence) * int(Paths) * 16
	PartPathsAt = PartWindowAt + MaxWindows*WindowSize

	// A slot holds the counters of a thread. After the thread has ended, a later thread may continue the slot's
	// counters.
	Slots          = 64
	CountCalls     = 0
	CountBytes     = 8
	CountTicks     = 16 // sum of measured durations, each times the number of calls that it stands for
	CountUntilNext = 24 // uint32: number of calls until the next measured call
	CountStride    = 28 // uint32: number of calls that a measured call stands for
	CountSize      = 32
	MaxFunctions   = 704
	UseCalls       = 0
	UseBytes       = 8  // bytes of operations
	UseTicks       = 16 // ticks spent in waits
	UseSize        = 24
	SlotWindows    = MaxFunctions * CountSize
	SlotSize       = (SlotWindows + MaxWindows*int(Uses)*UseSize + 4095) / 4096 * 4096
	PartSlots      = (PartPathsAt + MaxWindows*PathsSize + 4095) / 4096 * 4096
	PartRing       = PartSlots + Slots*SlotSize

	// MaxElements is the largest number of recorded elements of a list.
	MaxElements = 4096
	// MaxRecord is the size of the largest record in words. A ring holds at least four times as many words.
	MaxRecord   = 1 << 15
	StatusWords = 4
	HeadWords   = 6
	MinRing     = 4 * 8 * MaxRecord
	DefaultRing = 4 << 20
)

// The flags of a record.
const (
	flagEntry     = 1
	flagTruncated = 2 // a list has more elements than recorded
)

// State is the state of a list.
type State uint32

// The states of a list.
const (
	Present   State = iota
	Truncated       // the list has more elements
	Null            // a null pointer, such as MPI_STATUS_IGNORE
	Special         // a constant in place of an address, such as MPI_UNWEIGHTED: Value.Words[0]
	Absent          // no value: an output of a failed call, or a list that is not significant at this rank
)

// EnvAlone names an environment variable. If its value is "stats", a process counts its calls without gompirun.
const EnvAlone = "GOMPIRMA_INSIGHT"

// EnvFd names the environment variable with the descriptor of the shared memory. gompirun sets it for each rank.
const EnvFd = "GOMPIRMA_INSIGHT_FD"

// EnvRank names the environment variable with the index of the process's part, if it differs from PMI_RANK.
const EnvRank = "GOMPIRMA_INSIGHT_PART"

// Constant is one of the constants above.
type Constant struct {
	Name  string
	Value int64
}

// Constants lists the constants that C needs, with their names in C.
var Constants = []Constant{
	{"MAGIC", int64(Magic)},
	{"VERSION", int64(Version)},
	{"JOB_MAGIC", int64(JobMagic)},
	{"JOB_VERSION", int64(JobVersion)},
	{"JOB_MODE", int64(JobMode)},
	{"JOB_RANKS", int64(JobRanks)},
	{"JOB_DOORBELL", int64(JobDoorbell)},
	{"JOB_READER_ASLEEP", int64(JobReaderAsleep)},
	{"JOB_FUNCTIONS", int64(JobFunctions)},
	{"JOB_PART_SIZE", int64(JobPartSize)},
	{"JOB_RING_SIZE", int64(JobRingSize)},
	{"JOB_TICK", int64(JobTick)},
	{"JOB_PARTS", int64(JobParts)},
	{"MAX_PARTS", int64(MaxParts)},
	{"JOB_SIZE", int64(JobSize)},
	{"PART_PID", int64(PartPid)},
	{"PART_THREADS", int64(PartThreads)},
	{"PART_REJECTED", int64(PartRejected)},
	{"PART_SPACE_FUTEX", int64(PartSpaceFutex)},
	{"PART_SPACE_WANTED", int64(PartSpaceWanted)},
	{"PART_OBJECTS", int64(PartObjects)},
	{"PART_NAMES", int64(PartNames)},
	{"PART_OBJECTS_LOST", int64(PartObjectsLost)},
	{"PART_MONOTONIC", int64(PartMonotonic)},
	{"PART_REALTIME", int64(PartRealtime)},
	{"PART_FIRST", int64(PartFirst)},
	{"PART_HEAD", int64(PartHead)},
	{"PART_TAIL", int64(PartTail)},
	{"PART_DROPPED", int64(PartDropped)},
	{"PART_FAILED_TESTS", int64(PartFailedTests)},
	{"PART_ESSENTIAL_LOST", int64(PartEssentialLost)},
	{"PART_CHECKED", int64(PartChecked)},
	{"PART_CONFLICTS", int64(PartConflicts)},
	{"PART_CHECK_WANTED", int64(PartCheckWanted)},
	{"PART_CHECK_FUTEX", int64(PartCheckFutex)},
	{"PART_CONFLICT_ENDS", int64(PartConflictEnds)},
	{"MAX_CONFLICT_ENDS", int64(MaxConflictEnds)},
	{"PART_TABLE", int64(PartTable)},
	{"OBJECT_LOW", int64(ObjectLow)},
	{"OBJECT_HIGH", int64(ObjectHigh)},
	{"OBJECT_BIAS", int64(ObjectBias)},
	{"OBJECT_NAME", int64(ObjectName)},
	{"OBJECT_SIZE", int64(ObjectSize)},
	{"MAX_OBJECTS", int64(MaxObjects)},
	{"PART_NAME_AT", int64(PartNameAt)},
	{"NAMES_SIZE", int64(NamesSize)},
	{"PART_RING", int64(PartRing)},
	{"MAX_ELEMENTS", int64(MaxElements)},
	{"MAX_RECORD", int64(MaxRecord)},
	{"STATUS_WORDS", int64(StatusWords)},
	{"HEAD_WORDS", int64(HeadWords)},
	{"MIN_RING", int64(MinRing)},
	{"MODE_STATS", int64(Stats)},
	{"MODE_RECORDS", int64(Records)},
	{"MODE_ENTRIES", int64(Entries)},
	{"MODE_WAITS", int64(WaitForSpace)},
	{"MODE_FAILED_TESTS", int64(FailedTests)},
	{"MODE_ACCESSES", int64(ProgramAccesses)},
	{"MODE_SYNC_CHECK", int64(SyncCheck)},
	{"ACCESSES", int64(accessRecord)},
	{"THREAD_EVENTS", int64(eventRecord)},
	{"RELEASE", int64(Release)},
	{"ACQUIRE", int64(Acquire)},
	{"FORK", int64(Fork)},
	{"ENTER", int64(Enter)},
	{"LEAVE", int64(Leave)},
	{"DROP", int64(Drop)},
	{"FREE", int64(Free)},
	{"FREE_WINDOW", int64(FreeWindow)},
	{"FLAG_ENTRY", int64(flagEntry)},
	{"FLAG_TRUNCATED", int64(flagTruncated)},
	{"STATE_PRESENT", int64(Present)},
	{"STATE_TRUNCATED", int64(Truncated)},
	{"STATE_NULL", int64(Null)},
	{"STATE_SPECIAL", int64(Special)},
	{"STATE_ABSENT", int64(Absent)},
	{"PART_TICKS", int64(PartTicks)},
	{"PART_TICKS_NOW", int64(PartTicksNow)},
	{"PART_MONOTONIC_NOW", int64(PartMonotonicNow)},
	{"PART_ENDED", int64(PartEnded)},
	{"PART_UNCOUNTED", int64(PartUncounted)},
	{"PART_WINDOWS", int64(PartWindows)},
	{"PART_FILE_COUNTS", int64(PartFileCounts)},
	{"PART_OWNERS", int64(PartOwners)},
	{"WINDOW_HANDLE", int64(WindowHandle)},
	{"WINDOW_FIRST_RANK", int64(WindowFirstRank)},
	{"WINDOW_MEMBERS", int64(WindowMembers)},
	{"WINDOW_ORDINAL", int64(WindowOrdinal)},
	{"WINDOW_HAS_PATHS", int64(WindowHasPaths)},
	{"WINDOW_LABEL", int64(WindowLabel)},
	{"LABEL_SIZE", int64(LabelSize)},
	{"WINDOW_SIZE", int64(WindowSize)},
	{"MAX_WINDOWS", int64(MaxWindows)},
	{"PART_WINDOW_AT", int64(PartWindowAt)},
	{"PART_PATHS_AT", int64(PartPathsAt)},
	{"SLOTS", int64(Slots)},
	{"COUNT_CALLS", int64(CountCalls)},
	{"COUNT_BYTES", int64(CountBytes)},
	{"COUNT_TICKS", int64(CountTicks)},
	{"COUNT_UNTIL_NEXT", int64(CountUntilNext)},
	{"COUNT_STRIDE", int64(CountStride)},
	{"COUNT_SIZE", int64(CountSize)},
	{"MAX_FUNCTIONS", int64(MaxFunctions)},
	{"USE_CALLS", int64(UseCalls)},
	{"USE_BYTES", int64(UseBytes)},
	{"USE_TICKS", int64(UseTicks)},
	{"USE_SIZE", int64(UseSize)},
	{"SLOT_WINDOWS", int64(SlotWindows)},
	{"SLOT_SIZE", int64(SlotSize)},
	{"PART_SLOTS", int64(PartSlots)},
	{"SLOTS", int64(Slots)},
	{"USES", int64(Uses)},
}
