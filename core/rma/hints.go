package rma

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"gompirma/core/abi"
	"gompirma/core/mpierr"
)

// Hints are the info keys that windows honour (MPI-5.0 12.2.1 to 12.2.4 and 10), as values in force.
type Hints struct {
	NoLocks          bool
	SameSize         bool
	SameDispUnit     bool
	SameOp           bool   // accumulate_ops = same_op; false: same_op_no_op, the default
	Ordering         uint8  // which of OrderRAR.. must hold
	Granularity      int64  // mpi_accumulate_granularity, bytes; 0: not given
	NonContiguous    bool   // alloc_shared_noncontig
	Alignment        int64  // mpi_minimum_memory_alignment, bytes
	MemoryAllocKinds string // mpi_assert_memory_alloc_kinds, as given
	InPlace          uint8  // gompirma_share_in_place: InPlaceOff..
	Shared           string // gompirma_shared_in_place: "true", which bytes, or "false" and why not; "": the window's memory is not of that kind
}

// Whether MPI_Win_create makes ordinary memory shared memory where it lies.
const (
	InPlaceOff = iota
	InPlaceOn
	InPlaceRequired // or else the window is not made
)

var inPlaceNames = []string{"false", "true", "require"}

// EnvInPlace is the environment variable that says what gompirma_share_in_place is where the key is not given.
const EnvInPlace = "GOMPIRMA_SHARE_IN_PLACE"

// The four orderings of accumulate_ordering; read after read and so on.
const (
	OrderRAR = 1 << iota
	OrderRAW
	OrderWAR
	OrderWAW
	OrderAll = OrderRAR | OrderRAW | OrderWAR | OrderWAW
)

var orderNames = []string{"rar", "raw", "war", "waw"}

// DefaultHints are the values in force where no info says otherwise.
func DefaultHints() Hints { return Hints{Ordering: OrderAll, Alignment: 64} }

// Keys that a window's info may hold, in the order in which MPI_Win_get_info returns them.
const (
	keyNoLocks     = "no_locks"
	keyOrdering    = "accumulate_ordering"
	keyOps         = "accumulate_ops"
	keyGranularity = "mpi_accumulate_granularity"
	keySameSize    = "same_size"
	keySameUnit    = "same_disp_unit"
	keyNonContig   = "alloc_shared_noncontig"
	keyAlignment   = "mpi_minimum_memory_alignment"
	keyAllocKinds  = "mpi_assert_memory_alloc_kinds"
	keyInPlace     = "gompirma_share_in_place"
	keyShared      = "gompirma_shared_in_place" // told only
)

// Apply sets what info, a look-up of keys, says. Unknown keys are ignored. MPI_ERR_INFO_VALUE: a value that its key does not allow; h is then unchanged.
func (h *Hints) Apply(info func(key string) (string, bool)) error {
	n := *h
	for _, b := range []struct {
		key string
		to  *bool
	}{{keyNoLocks, &n.NoLocks}, {keySameSize, &n.SameSize}, {keySameUnit, &n.SameDispUnit}, {keyNonContig, &n.NonContiguous}} {
		if v, ok := info(b.key); ok {
			switch strings.TrimSpace(v) {
			case "true":
				*b.to = true
			case "false":
				*b.to = false
			default:
				return badValue(b.key, v, `"true" or "false"`)
			}
		}
	}
	if v, ok := info(keyOps); ok {
		switch strings.TrimSpace(v) {
		case "same_op":
			n.SameOp = true
		case "same_op_no_op":
			n.SameOp = false
		default:
			return badValue(keyOps, v, `"same_op" or "same_op_no_op"`)
		}
	}
	if v, ok := info(keyOrdering); ok {
		n.Ordering = 0
		if words := strings.Split(v, ","); !(len(words) == 1 && strings.TrimSpace(words[0]) == "none") {
			for _, word := range words {
				i := slices.Index(orderNames, strings.TrimSpace(word))
				if i < 0 {
					return badValue(keyOrdering, v, `"none" or a list of rar, raw, war, waw`)
				}
				n.Ordering |= 1 << i
			}
		}
	}
	for _, b := range []struct {
		key string
		to  *int64
	}{{keyGranularity, &n.Granularity}, {keyAlignment, &n.Alignment}} {
		if v, ok := info(b.key); ok {
			x, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64)
			if err != nil || x < 0 || (b.key == keyAlignment && (x&(x-1) != 0 || x > 1<<30)) {
				return badValue(b.key, v, "a number of bytes (an alignment: a power of two up to 2^30)")
			}
			*b.to = x
		}
	}
	if v, ok := info(keyAllocKinds); ok {
		n.MemoryAllocKinds = v
	}
	if v, ok := info(keyInPlace); ok {
		i := slices.Index(inPlaceNames, strings.TrimSpace(v))
		if i < 0 {
			return badValue(keyInPlace, v, `"true", "false" or "require"`)
		}
		n.InPlace = uint8(i)
	}
	*h = n
	return nil
}

// applyEnvironment sets what environment variables say.
func (h *Hints) applyEnvironment() error {
	v := strings.TrimSpace(os.Getenv(EnvInPlace))
	switch v {
	case "", "0":
		v = "false"
	case "1":
		v = "true"
	}
	i := slices.Index(inPlaceNames, v)
	if i < 0 {
		return mpierr.New(abi.MPI_ERR_INFO_VALUE, "environment variable %s = %q: it must be 0, 1, true, false or require", EnvInPlace, v)
	}
	h.InPlace = uint8(i)
	return nil
}

func badValue(key, value, want string) error {
	return mpierr.New(abi.MPI_ERR_INFO_VALUE, "info key %s = %q: it must be %s", key, value, want)
}

// Pair is one key of an info object and its value.
type Pair struct{ Key, Value string }

// Pairs returns every honoured key with the value in force.
func (h *Hints) Pairs() []Pair {
	ops := "same_op_no_op"
	if h.SameOp {
		ops = "same_op"
	}
	var order []string
	for i, name := range orderNames {
		if h.Ordering>>i&1 != 0 {
			order = append(order, name)
		}
	}
	if order == nil {
		order = []string{"none"}
	}
	pairs := []Pair{
		{keyNoLocks, strconv.FormatBool(h.NoLocks)},
		{keyOrdering, strings.Join(order, ",")},
		{keyOps, ops},
		{keyGranularity, strconv.FormatInt(h.Granularity, 10)},
		{keySameSize, strconv.FormatBool(h.SameSize)},
		{keySameUnit, strconv.FormatBool(h.SameDispUnit)},
		{keyNonContig, strconv.FormatBool(h.NonContiguous)},
		{keyAlignment, strconv.FormatInt(h.Alignment, 10)},
		{keyInPlace, inPlaceNames[h.InPlace]},
	}
	if h.Shared != "" {
		pairs = append(pairs, Pair{keyShared, h.Shared})
	}
	if h.MemoryAllocKinds != "" {
		pairs = append(pairs, Pair{keyAllocKinds, h.MemoryAllocKinds})
	}
	return pairs
}
