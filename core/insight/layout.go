package insight

// Mode says what is recorded.
type Mode uint32

// The bits of a mode.
const (
	Stats   Mode = 1 << iota // calls are counted
	Records                  // calls are recorded
	Entries                  // those that may wait also when they are entered
	Waits                    // who finds the ring full waits; else the record is lost and counted
	Polls                    // also tests that found nothing, which are counted only
	Own                      // also what the program itself does with memory, where it tells
	Answers                  // calls that Raises names wait to be told whether they conflict
)

// The layout of the shared memory, in bytes, which core/abi/gen writes into capi/insight/z_layout.h.
const (
	Magic   = 0x676d70696e736967 // "gmpinsig"
	Version = 4

	JobMagic     = 0
	JobVersion   = 8  // uint32
	JobMode      = 12 // uint32
	JobRanks     = 16 // uint32
	JobBell      = 20 // uint32, a futex: rung for gompirun when it sleeps and there is something to read
	JobSleeping  = 24 // uint32: gompirun sleeps
	JobFunctions = 28 // uint32: how many the table has
	JobPartSize  = 32
	JobRingSize  = 40
	JobTick      = 64 // uint32, on a line of its own: CLOCK_MONOTONIC in ms while calls are counted
	JobSize      = 4096

	PartPid       = 0  // uint32: of the process that has taken the part, 0: none has
	PartThreads   = 4  // uint32: threads that have called
	PartOthers    = 8  // uint32: processes that found the part taken
	PartRoom      = 12 // uint32, a futex: changes when there is room in the ring again
	PartFull      = 16 // uint32: somebody waits for room
	PartObjects   = 20 // uint32: how many objects are known
	PartNames     = 24 // uint32: bytes of names
	PartLost      = 28 // uint32: objects for which there was no room
	PartMonotonic = 32 // clocks when the part was taken, in ns
	PartRealtime  = 40
	PartHead      = 64  // where the next record begins, in words; on a line of its own
	PartTail      = 128 // what has been read
	PartDropped   = 192 // calls whose records did not fit
	PartPolls     = 200 // tests that found nothing
	PartBroken    = 208 // records that did not fit, of entries as well, without those that Alone finds
	PartAnswered  = 216 // how far in the ring gompirun has looked for conflicts, in words
	PartConflicts = 224 // uint32: how many calls of the rank were the later ones of conflicts
	PartAsking    = 228 // uint32: somebody waits for an answer
	PartAnswer    = 232 // uint32, a futex: changes when there is one

	PartTicks     = 256 // what counters measure time in, when the part was taken
	PartTicksNow  = 264 // the same, and CLOCK_MONOTONIC, at a later moment; 0: there was none
	PartNow       = 272
	PartEnded     = 280  // CLOCK_MONOTONIC when MPI_Finalize returned, 0: it has not
	PartUncounted = 288  // uint32: threads for which there was no room
	PartWindows   = 292  // uint32: how many windows are known
	PartOwners    = 512  // a uint32 for each slot: a thread has it
	PartLater     = 1024 // of the newest of these calls: where in the ring their records end
	MaxLater      = 256
	PartTable     = 4096

	ObjectLow  = 0 // the addresses of an object: from, to
	ObjectHigh = 8
	ObjectBias = 16 // what has been added to the addresses in the file
	ObjectName = 24 // where its name is among the names; ends with a zero
	ObjectSize = 32
	MaxObjects = 512
	PartNameAt = PartTable + MaxObjects*ObjectSize
	NamesSize  = 48 << 10

	WindowHandle  = 0  // 0: it has been freed
	WindowLeader  = 8  // int32: the first member's rank in MPI_COMM_WORLD, -1: unknown
	WindowMembers = 12 // uint32
	WindowOrdinal = 16 // uint32: among those of this leader and size
	WindowWays    = 20 // uint32: operations are counted by their ways
	WindowLabel   = 24 // its name
	LabelSize     = 104
	WindowSize    = WindowLabel + LabelSize
	MaxWindows    = 64 // the last one stands for all that come later
	PartWindowAt  = PartNameAt + NamesSize
	// For each window operations by kind and way, as calls and bytes; the library adds to them.
	WaysSize   = int(Fence) * int(Ways) * 16
	PartWaysAt = PartWindowAt + MaxWindows*WindowSize

	// A slot has the counters of a thread, or of several of which one runs at a time.
	Slots        = 64
	CountCalls   = 0
	CountBytes   = 8
	CountTicks   = 16 // of those calls that were measured, each times the number of calls that it stands for
	CountLeft    = 24 // uint32: calls until one is measured
	CountStride  = 28 // uint32: how many a measured call stands for
	CountSize    = 32
	MaxFunctions = 704
	UseCalls     = 0
	UseBytes     = 8  // of operations
	UseTicks     = 16 // of waits
	UseSize      = 24
	SlotWindows  = MaxFunctions * CountSize
	SlotSize     = (SlotWindows + MaxWindows*int(Uses)*UseSize + 4095) / 4096 * 4096
	PartSlots    = (PartWaysAt + MaxWindows*WaysSize + 4095) / 4096 * 4096
	PartRing     = PartSlots + Slots*SlotSize

	// Elements is how many of a list are recorded at most.
	Elements = 4096
	// MaxRecord is the size of the largest record in words. A ring has at least four times as much.
	MaxRecord   = 1 << 15
	StatusWords = 4
	HeadWords   = 6
	MinRing     = 4 * 8 * MaxRecord
	DefaultRing = 4 << 20
)

// The flags of a record.
const (
	flagEntry     = 1
	flagTruncated = 2 // of some list there was more
)

// State says what a list is.
type State uint32

// The states of a list.
const (
	Given     State = iota
	Truncated       // there was more
	Null            // a null pointer, such as MPI_STATUS_IGNORE
	Special         // a constant in place of an address, such as MPI_UNWEIGHTED: Value.Words[0]
	Absent          // no value: an output of a call that failed, a list that means nothing at this rank
)

// EnvAlone has a process count without gompirun if its value is "stats".
const EnvAlone = "GOMPIRMA_INSIGHT"

// EnvFd names the descriptor of the shared memory in the environment of a rank, which gompirun sets.
const EnvFd = "GOMPIRMA_INSIGHT_FD"

// EnvRank is which part of the memory is the process', if not that of PMI_RANK.
const EnvRank = "GOMPIRMA_INSIGHT_PART"

// Constant is one of the constants above.
type Constant struct {
	Name  string
	Value int64
}

// Constants are those that C needs, by their names there.
var Constants = []Constant{
	{"MAGIC", int64(Magic)},
	{"VERSION", int64(Version)},
	{"JOB_MAGIC", int64(JobMagic)},
	{"JOB_VERSION", int64(JobVersion)},
	{"JOB_MODE", int64(JobMode)},
	{"JOB_RANKS", int64(JobRanks)},
	{"JOB_BELL", int64(JobBell)},
	{"JOB_SLEEPING", int64(JobSleeping)},
	{"JOB_FUNCTIONS", int64(JobFunctions)},
	{"JOB_PART_SIZE", int64(JobPartSize)},
	{"JOB_RING_SIZE", int64(JobRingSize)},
	{"JOB_TICK", int64(JobTick)},
	{"JOB_SIZE", int64(JobSize)},
	{"PART_PID", int64(PartPid)},
	{"PART_THREADS", int64(PartThreads)},
	{"PART_OTHERS", int64(PartOthers)},
	{"PART_ROOM", int64(PartRoom)},
	{"PART_FULL", int64(PartFull)},
	{"PART_OBJECTS", int64(PartObjects)},
	{"PART_NAMES", int64(PartNames)},
	{"PART_LOST", int64(PartLost)},
	{"PART_MONOTONIC", int64(PartMonotonic)},
	{"PART_REALTIME", int64(PartRealtime)},
	{"PART_HEAD", int64(PartHead)},
	{"PART_TAIL", int64(PartTail)},
	{"PART_DROPPED", int64(PartDropped)},
	{"PART_POLLS", int64(PartPolls)},
	{"PART_BROKEN", int64(PartBroken)},
	{"PART_ANSWERED", int64(PartAnswered)},
	{"PART_CONFLICTS", int64(PartConflicts)},
	{"PART_ASKING", int64(PartAsking)},
	{"PART_ANSWER", int64(PartAnswer)},
	{"PART_LATER", int64(PartLater)},
	{"MAX_LATER", int64(MaxLater)},
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
	{"ELEMENTS", int64(Elements)},
	{"MAX_RECORD", int64(MaxRecord)},
	{"STATUS_WORDS", int64(StatusWords)},
	{"HEAD_WORDS", int64(HeadWords)},
	{"MIN_RING", int64(MinRing)},
	{"MODE_STATS", int64(Stats)},
	{"MODE_RECORDS", int64(Records)},
	{"MODE_ENTRIES", int64(Entries)},
	{"MODE_WAITS", int64(Waits)},
	{"MODE_POLLS", int64(Polls)},
	{"MODE_ACCESSES", int64(Own)},
	{"MODE_ANSWERS", int64(Answers)},
	{"ACCESSES", int64(ownAccesses)},
	{"ORDERS", int64(orderEvents)},
	{"RELEASE", int64(Release)},
	{"ACQUIRE", int64(Acquire)},
	{"FORK", int64(Fork)},
	{"ENTER", int64(Enter)},
	{"LEAVE", int64(Leave)},
	{"DROP", int64(Drop)},
	{"FREE", int64(Free)},
	{"GIVE", int64(Give)},
	{"FLAG_ENTRY", int64(flagEntry)},
	{"FLAG_TRUNCATED", int64(flagTruncated)},
	{"STATE_GIVEN", int64(Given)},
	{"STATE_TRUNCATED", int64(Truncated)},
	{"STATE_NULL", int64(Null)},
	{"STATE_SPECIAL", int64(Special)},
	{"STATE_ABSENT", int64(Absent)},
	{"PART_TICKS", int64(PartTicks)},
	{"PART_TICKS_NOW", int64(PartTicksNow)},
	{"PART_NOW", int64(PartNow)},
	{"PART_ENDED", int64(PartEnded)},
	{"PART_UNCOUNTED", int64(PartUncounted)},
	{"PART_WINDOWS", int64(PartWindows)},
	{"PART_OWNERS", int64(PartOwners)},
	{"WINDOW_HANDLE", int64(WindowHandle)},
	{"WINDOW_LEADER", int64(WindowLeader)},
	{"WINDOW_MEMBERS", int64(WindowMembers)},
	{"WINDOW_ORDINAL", int64(WindowOrdinal)},
	{"WINDOW_WAYS", int64(WindowWays)},
	{"WINDOW_LABEL", int64(WindowLabel)},
	{"LABEL_SIZE", int64(LabelSize)},
	{"WINDOW_SIZE", int64(WindowSize)},
	{"MAX_WINDOWS", int64(MaxWindows)},
	{"PART_WINDOW_AT", int64(PartWindowAt)},
	{"PART_WAYS_AT", int64(PartWaysAt)},
	{"SLOTS", int64(Slots)},
	{"COUNT_CALLS", int64(CountCalls)},
	{"COUNT_BYTES", int64(CountBytes)},
	{"COUNT_TICKS", int64(CountTicks)},
	{"COUNT_LEFT", int64(CountLeft)},
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
