package check

import (
	"gompirma/core/abi"
	"gompirma/core/datatype"
)

// typeOf returns a datatype of a rank; nil if it is unknown.
func (k *rank) typeOf(h uint64) *typemap {
	if t := k.types[h]; t != nil {
		return t
	}
	return basicTypes[h]
}

func ints(words []uint64) []int64 {
	out := make([]int64, len(words))
	for i, w := range words {
		out[i] = int64(w)
	}
	return out
}

// makeType records the datatype that a datatype constructor has made.
func (c *Checker) makeType(k *rank, e *event) {
	made := e.Out("newtype")
	if !made.HasValue() {
		return
	}
	delete(k.types, made.Uint()) // the handle may be reused
	if e.Truncated {
		return
	}
	if t := k.constructed(e); t != nil {
		k.types[made.Uint()] = t
	}
}

// constructed returns the result of a datatype constructor; nil if it is unknown.
func (k *rank) constructed(e *event) *typemap {
	list := func(name string) []int64 { return ints(e.In(name).Words) }
	number := func(name string) int64 { return e.In(name).Int() }
	lengths, disps := list("array_of_blocklengths"), list("array_of_displacements")
	length := func(i int) int64 { return number("blocklength") }
	if len(lengths) == len(disps) {
		length = func(i int) int64 { return lengths[i] }
	}
	if e.name == "MPI_Type_create_struct" {
		types := e.In("array_of_types").Words
		parts := make([]part, len(types))
		if len(types) != len(lengths) || len(types) != len(disps) {
			return nil
		}
		for i, h := range types {
			t := k.typeOf(h)
			if t == nil {
				return nil
			}
			parts[i] = part{t, disps[i], lengths[i], t.extent()}
		}
		return newTypemap(parts...)
	}
	old := k.typeOf(e.In("oldtype").Uint())
	if old == nil {
		return predefinedResult(e)
	}
	switch e.name {
	case "MPI_Type_contiguous":
		return old.times(number("count"))
	case "MPI_Type_vector":
		return newTypemap(part{old.times(number("blocklength")), 0, number("count"),
			number("stride") * old.extent()})
	case "MPI_Type_create_hvector":
		return newTypemap(part{old.times(number("blocklength")), 0, number("count"), number("stride")})
	case "MPI_Type_indexed", "MPI_Type_create_indexed_block":
		return old.blocks(length, disps, old.extent())
	case "MPI_Type_create_hindexed", "MPI_Type_create_hindexed_block":
		return old.blocks(length, disps, 1)
	case "MPI_Type_create_subarray":
		sizes, subsizes, starts := list("array_of_sizes"), list("array_of_subsizes"), list("array_of_starts")
		dims := make([]dimension, len(sizes))
		if len(subsizes) != len(sizes) || len(starts) != len(sizes) {
			return nil
		}
		for i, size := range sizes {
			dims[i] = dimension{size: size, start: starts[i], block: subsizes[i], blocks: 1,
				last: subsizes[i]}
		}
		return old.array(dims, number("order"))
	case "MPI_Type_create_darray":
		sizes, distribs, dargs, grid := list("array_of_gsizes"), list("array_of_distribs"),
			list("array_of_dargs"), list("array_of_psizes")
		if len(distribs) != len(sizes) || len(dargs) != len(sizes) || len(grid) != len(sizes) {
			return nil
		}
		return old.darray(number("size"), number("rank"), sizes, distribs, dargs, grid, number("order"))
	case "MPI_Type_create_resized":
		return old.resized(number("lb"), number("extent"))
	case "MPI_Type_dup":
		return old
	}
	return nil
}

// predefinedResult returns the predefined type that MPI_Type_create_f90_integer, _real or _complex returns; nil for
// other calls.
func predefinedResult(e *event) *typemap {
	combiner := map[string]int32{"MPI_Type_create_f90_integer": abi.MPI_COMBINER_F90_INTEGER,
		"MPI_Type_create_f90_real":    abi.MPI_COMBINER_F90_REAL,
		"MPI_Type_create_f90_complex": abi.MPI_COMBINER_F90_COMPLEX}[e.name]
	if combiner == 0 {
		return nil
	}
	b, err := datatype.F90Kind(combiner, int32(e.In("p").Int()), int32(e.In("r").Int()))
	if err != nil {
		return nil
	}
	return basicTypes[uint64(b.Handle)]
}

// maxSpans is the largest number of spans of an access. An access with more spans is ignored, because it cannot be
// replaced by one large span: the bytes between its spans belong to other data.
const maxSpans = 1 << 18

// spansOf returns the bytes of count elements of a type at an address. It returns nil if there are no bytes, if the
// datatype is unknown, or if there are more than maxSpans spans.
func (k *rank) spansOf(address uint64, count int64, h uint64) []span {
	t := k.typeOf(h)
	if t == nil || count <= 0 || t.size == 0 {
		return nil
	}
	if t.isContiguous() {
		lo, hi := t.span(count)
		return []span{{address + uint64(lo), address + uint64(hi)}}
	}
	if t.segments > maxSpans/count {
		return nil
	}
	spans := make([]span, 0, count*t.segments)
	for at, n := range t.ranges(count, 0) {
		spans = append(spans, span{address + uint64(at), address + uint64(at+n)})
	}
	return merged(spans)
}

func inPlace(address uint64) bool { return address == abi.MPI_IN_PLACE }
