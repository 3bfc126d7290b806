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
)

// The layout of the shared memory, in bytes, which core/abi/gen writes into capi/insight/z_layout.h.
const (
	Magic   = 0x676d70696e736967 // "gmpinsig"
	Version = 1

	JobMagic     = 0
	JobVersion   = 8  // uint32
	JobMode      = 12 // uint32
	JobRanks     = 16 // uint32
	JobBell      = 20 // uint32, a futex: rung for gompirun when it sleeps and there is something to read
	JobSleeping  = 24 // uint32: gompirun sleeps
	JobFunctions = 28 // uint32: how many the table has
	JobPartSize  = 32
	JobRingSize  = 40
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
	PartDropped   = 192 // records that did not fit
	PartPolls     = 200 // tests that found nothing
	PartTable     = 4096

	ObjectLow  = 0 // the addresses of an object: from, to
	ObjectHigh = 8
	ObjectBias = 16 // what has been added to the addresses in the file
	ObjectName = 24 // where its name is among the names; ends with a zero
	ObjectSize = 32
	MaxObjects = 512
	PartNameAt = PartTable + MaxObjects*ObjectSize
	NamesSize  = 48 << 10
	PartRing   = PartNameAt + NamesSize

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

// EnvFd names the descriptor of the shared memory in the environment of a rank, which gompirun sets.
const EnvFd = "GOMPIRMA_INSIGHT_FD"

// Constant is one of the constants above.
type Constant struct {
	Name  string
	Value int64
}

// Constants are those that C needs, by their names there.
var Constants = []Constant{
	{"MAGIC", Magic},
	{"VERSION", Version},
	{"JOB_MAGIC", JobMagic},
	{"JOB_VERSION", JobVersion},
	{"JOB_MODE", JobMode},
	{"JOB_RANKS", JobRanks},
	{"JOB_BELL", JobBell},
	{"JOB_SLEEPING", JobSleeping},
	{"JOB_FUNCTIONS", JobFunctions},
	{"JOB_PART_SIZE", JobPartSize},
	{"JOB_RING_SIZE", JobRingSize},
	{"JOB_SIZE", JobSize},
	{"PART_PID", PartPid},
	{"PART_THREADS", PartThreads},
	{"PART_OTHERS", PartOthers},
	{"PART_ROOM", PartRoom},
	{"PART_FULL", PartFull},
	{"PART_OBJECTS", PartObjects},
	{"PART_NAMES", PartNames},
	{"PART_LOST", PartLost},
	{"PART_MONOTONIC", PartMonotonic},
	{"PART_REALTIME", PartRealtime},
	{"PART_HEAD", PartHead},
	{"PART_TAIL", PartTail},
	{"PART_DROPPED", PartDropped},
	{"PART_POLLS", PartPolls},
	{"PART_TABLE", PartTable},
	{"OBJECT_LOW", ObjectLow},
	{"OBJECT_HIGH", ObjectHigh},
	{"OBJECT_BIAS", ObjectBias},
	{"OBJECT_NAME", ObjectName},
	{"OBJECT_SIZE", ObjectSize},
	{"MAX_OBJECTS", MaxObjects},
	{"PART_NAME_AT", PartNameAt},
	{"NAMES_SIZE", NamesSize},
	{"PART_RING", PartRing},
	{"ELEMENTS", Elements},
	{"MAX_RECORD", MaxRecord},
	{"STATUS_WORDS", StatusWords},
	{"HEAD_WORDS", HeadWords},
	{"MIN_RING", MinRing},
	{"MODE_STATS", int64(Stats)},
	{"MODE_RECORDS", int64(Records)},
	{"MODE_ENTRIES", int64(Entries)},
	{"MODE_WAITS", int64(Waits)},
	{"MODE_POLLS", int64(Polls)},
	{"FLAG_ENTRY", flagEntry},
	{"FLAG_TRUNCATED", flagTruncated},
	{"STATE_GIVEN", int64(Given)},
	{"STATE_TRUNCATED", int64(Truncated)},
	{"STATE_NULL", int64(Null)},
	{"STATE_SPECIAL", int64(Special)},
	{"STATE_ABSENT", int64(Absent)},
}
