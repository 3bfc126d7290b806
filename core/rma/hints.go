package rma

import (
	"encoding/binary"
	"iter"
	"os"
	"slices"
	"strconv"
	"strings"

	"gompirma/core/abi"
	"gompirma/core/mpierr"
)

// Hints are the info keys that windows honour (MPI-5.0 12.2.1 to 12.2.3, 12.2.7), as values in force.
type Hints struct {
	NoLocks       bool
	SameSize      bool
	SameDispUnit  bool
	SameOp        bool   // accumulate_ops = same_op; false: same_op_no_op, the default
	Ordering      uint8  // which of OrderRAR.. must hold
	Granularity   int64  // mpi_accumulate_granularity, bytes; 0: not given
	NonContiguous bool   // alloc_shared_noncontig
	Alignment     int64  // mpi_minimum_memory_alignment, bytes; at least LeastAlignment
	HugePages     bool   // gompirma_huge_pages: asked for
	AllocKinds    string // mpi_assert_memory_alloc_kinds, without blanks; "": not given
	InPlace       uint8  // gompirma_share_in_place: InPlaceOff..
	// gompirma_shared_in_place: "true", which bytes, or "false" and why not; "": the window's memory is not of that
	// kind
	Shared string
}

// What MPI_Win_create does with ordinary memory: it may make it shared memory where it lies.
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

// LeastAlignment is that of all memory that MPI allocates, in bytes: a cache line, which is more than any predefined
// datatype needs.
const LeastAlignment = 64

// MemoryKinds are the kinds of memory that may be used for all buffers (mpi_memory_alloc_kinds, MPI-5.0 11.4.3).
const MemoryKinds = "mpi,system"

// EnvHugePages is the environment variable that says what gompirma_huge_pages is where the key is not given.
const EnvHugePages = "GOMPIRMA_HUGE_PAGES"

// DefaultHints are the values in force where neither info nor environment says otherwise.
func DefaultHints() Hints {
	return Hints{Ordering: OrderAll, Alignment: LeastAlignment}
}

// NewHints returns the defaults, changed as the environment and then info (nil: no info) say. MPI_ERR_INFO_VALUE.
func NewHints(info func(key string) (string, bool)) (Hints, error) {
	h := DefaultHints()
	err := h.applyEnvironment()
	if err == nil && info != nil {
		err = h.Apply(info)
	}
	return h, err
}

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
	keyHugePages   = "gompirma_huge_pages"
	KeyKinds       = "mpi_memory_alloc_kinds" // told, never asked for
	KeyAssertKinds = "mpi_assert_memory_alloc_kinds"
	keyInPlace     = "gompirma_share_in_place"
	keyShared      = "gompirma_shared_in_place" // told only
)

const mostAlignment = 1 << 30

// Apply sets what info, a look-up of keys, says. Unknown keys are ignored, and so are values that a key of MPI's does
// not allow: programs have some that no library has ever looked at. MPI_ERR_INFO_VALUE: a value that a key of
// gompirma's does not allow; h is then unchanged.
func (h *Hints) Apply(info func(key string) (string, bool)) error {
	n := *h
	for _, b := range []struct {
		key string
		to  *bool
	}{{keyNoLocks, &n.NoLocks}, {keySameSize, &n.SameSize}, {keySameUnit, &n.SameDispUnit},
		{keyNonContig, &n.NonContiguous}, {keyHugePages, &n.HugePages}} {
		if v, ok := info(b.key); ok {
			switch strings.TrimSpace(v) {
			case "true":
				*b.to = true
			case "false":
				*b.to = false
			default:
				if b.key == keyHugePages {
					return badValue(b.key, v, `"true" or "false"`)
				}
			}
		}
	}
	if v, ok := info(keyOps); ok {
		switch strings.TrimSpace(v) {
		case "same_op":
			n.SameOp = true
		case "same_op_no_op":
			n.SameOp = false
		}
	}
	if v, ok := info(keyOrdering); ok {
		n.Ordering = parseOrdering(v, n.Ordering)
	}
	if v, ok := info(keyGranularity); ok {
		if x, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64); err == nil && x >= 0 {
			n.Granularity = x
		}
	}
	if v, ok := info(keyAlignment); ok {
		if x, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64); err == nil && x >= 1 && x&(x-1) == 0 &&
			x <= mostAlignment {
			n.Alignment = max(x, LeastAlignment)
		}
	}
	if v, ok := info(KeyAssertKinds); ok {
		if kinds, ok := ParseKinds(v); ok {
			n.AllocKinds = kinds
		}
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

// parseOrdering returns the orderings that a value of accumulate_ordering lists, those before if it is no such list.
func parseOrdering(value string, before uint8) uint8 {
	if strings.TrimSpace(value) == "none" {
		return 0
	}
	list := uint8(0)
	for _, word := range strings.Split(value, ",") {
		i := slices.Index(orderNames, strings.TrimSpace(word))
		if i < 0 {
			return before
		}
		list |= 1 << i
	}
	return list
}

// applyEnvironment sets what environment variables say.
func (h *Hints) applyEnvironment() error {
	i, err := fromEnvironment(EnvInPlace, inPlaceNames)
	if err != nil {
		return err
	}
	h.InPlace = uint8(i)
	i, err = fromEnvironment(EnvHugePages, inPlaceNames[:InPlaceRequired])
	h.HugePages = i == 1
	return err
}

// fromEnvironment returns which of names a variable holds; 0 and no value stand for the first, 1 for the second.
func fromEnvironment(variable string, names []string) (int, error) {
	v := strings.TrimSpace(os.Getenv(variable))
	switch v {
	case "", "0":
		return 0, nil
	case "1":
		return 1, nil
	}
	i := slices.Index(names, v)
	if i < 0 {
		return 0, mpierr.New(abi.MPI_ERR_INFO_VALUE,
			"environment variable %s = %q: it must be 0, 1 or one of %s", variable, v,
			strings.Join(names, ", "))
	}
	return i, nil
}

// ParseKinds returns the value of mpi_assert_memory_alloc_kinds (MPI-5.0 11.4.3) without blanks; false: it is not a
// list of kinds, each with restrictors behind colons. Kinds that only other libraries know ("cuda:device") are as good
// as any: the assertion promises what buffers will be, and is not a request.
func ParseKinds(value string) (string, bool) {
	kinds := strings.Split(value, ",")
	for i := range kinds {
		parts := strings.Split(kinds[i], ":")
		for j := range parts {
			if parts[j] = strings.TrimSpace(parts[j]); parts[j] == "" ||
				strings.ContainsAny(parts[j], " \t\n") {
				return "", false
			}
		}
		kinds[i] = strings.Join(parts, ":")
	}
	return strings.Join(kinds, ","), true
}

// SupportedKinds returns mpi_memory_alloc_kinds for an object with this mpi_assert_memory_alloc_kinds: all that there
// are, or those of them that the assertion names, with its restrictors.
func SupportedKinds(asserted string) string {
	if asserted == "" {
		return MemoryKinds
	}
	var both []string
	for _, kind := range strings.Split(asserted, ",") {
		name, _, _ := strings.Cut(kind, ":")
		if slices.Contains(strings.Split(MemoryKinds, ","), name) {
			both = append(both, kind)
		}
	}
	return strings.Join(both, ",")
}

func badValue(key, value, want string) error {
	return mpierr.New(abi.MPI_ERR_INFO_VALUE, "info key %s = %q: it must be %s", key, value, want)
}

// Pair is one key of an info object and its value.
type Pair struct{ Key, Value string }

// ordering returns the value of accumulate_ordering.
func (h *Hints) ordering() string {
	var order []string
	for i, name := range orderNames {
		if h.Ordering>>i&1 != 0 {
			order = append(order, name)
		}
	}
	if order == nil {
		return "none"
	}
	return strings.Join(order, ",")
}

func (h *Hints) ops() string {
	if h.SameOp {
		return "same_op"
	}
	return "same_op_no_op"
}

// Pairs returns every honoured key with the value in force.
func (h *Hints) Pairs() []Pair {
	pairs := append(h.common(), []Pair{
		{keyAlignment, strconv.FormatInt(h.Alignment, 10)},
		{keyHugePages, strconv.FormatBool(h.HugePages)},
		{keyInPlace, inPlaceNames[h.InPlace]},
		{KeyKinds, SupportedKinds(h.AllocKinds)},
	}...)
	if h.Shared != "" {
		pairs = append(pairs, Pair{keyShared, h.Shared})
	}
	if h.AllocKinds != "" {
		pairs = append(pairs, Pair{KeyAssertKinds, h.AllocKinds})
	}
	return pairs
}

// common returns the keys that have one value in force at all members of a window.
func (h *Hints) common() []Pair {
	return []Pair{
		{keyNoLocks, strconv.FormatBool(h.NoLocks)},
		{keyOrdering, h.ordering()},
		{keyOps, h.ops()},
		{keyGranularity, strconv.FormatInt(h.Granularity, 10)},
		{keySameSize, strconv.FormatBool(h.SameSize)},
		{keySameUnit, strconv.FormatBool(h.SameDispUnit)},
		{keyNonContig, strconv.FormatBool(h.NonContiguous)},
	}
}

// Bits of the word in which members tell each other the keys of common; the four orderings are in the highest bits.
const (
	bitNoLocks = 1 << iota
	bitSameSize
	bitSameUnit
	bitSameOp
	bitNonContiguous
	bitOrdering = 28
)

// commonSize is the number of bytes that hold all that common tells.
const commonSize = 16

// putCommon writes what common tells as commonSize bytes.
func (h *Hints) putCommon(b []byte) {
	word := uint64(h.Ordering) << bitOrdering
	for _, f := range []struct {
		on  bool
		bit uint64
	}{{h.NoLocks, bitNoLocks}, {h.SameSize, bitSameSize}, {h.SameDispUnit, bitSameUnit}, {h.SameOp, bitSameOp},
		{h.NonContiguous, bitNonContiguous}} {
		if f.on {
			word |= f.bit
		}
	}
	binary.LittleEndian.PutUint64(b, word)
	binary.LittleEndian.PutUint64(b[8:], uint64(h.Granularity))
}

// commonOf is the reverse of putCommon: hints of which those keys are meant.
func commonOf(b []byte) Hints {
	word := binary.LittleEndian.Uint64(b)
	return Hints{NoLocks: word&bitNoLocks != 0, SameSize: word&bitSameSize != 0,
		SameDispUnit: word&bitSameUnit != 0, SameOp: word&bitSameOp != 0,
		NonContiguous: word&bitNonContiguous != 0, Ordering: uint8(word >> bitOrdering & OrderAll),
		Granularity: int64(binary.LittleEndian.Uint64(b[8:]))}
}

// combine gives h the values that are in force at a window whose members ask for these: what one member does not
// promise is not promised, an ordering that one needs is kept, and the smallest granularity that one wishes for serves
// all.
func (h *Hints) combine(members iter.Seq[Hints]) {
	h.NoLocks, h.SameSize, h.SameDispUnit, h.SameOp, h.NonContiguous, h.Ordering, h.Granularity = true, true, true,
		true, true, 0, 0
	for m := range members {
		h.NoLocks = h.NoLocks && m.NoLocks
		h.SameSize = h.SameSize && m.SameSize
		h.SameDispUnit = h.SameDispUnit && m.SameDispUnit
		h.SameOp = h.SameOp && m.SameOp
		h.NonContiguous = h.NonContiguous && m.NonContiguous
		h.Ordering |= m.Ordering
		if m.Granularity != 0 && (h.Granularity == 0 || m.Granularity < h.Granularity) {
			h.Granularity = m.Granularity
		}
	}
}

// keepTrue takes back what is said of all members and is not so.
func (h *Hints) keepTrue(sameSize, sameUnit bool) {
	h.SameSize = h.SameSize && sameSize
	h.SameDispUnit = h.SameDispUnit && sameUnit
}
