package check

import (
	"gompirma/core/abi"
	"gompirma/core/datatype"
	"gompirma/core/datatype/reference"
)

// typeOf returns a datatype of a rank; nil if it is unknown.
func (k *rank) typeOf(h uint64) *datatype.Type {
	if t := k.types[h]; t != nil {
		return t
	}
	if datatype.BasicOf(uintptr(h)) == nil {
		return nil
	}
	t, err := datatype.Get(uintptr(h))
	if err != nil {
		return nil
	}
	return t
}

func (k *rank) typesOf(words []uint64) (types []*datatype.Type) {
	for _, h := range words {
		t := k.typeOf(h)
		if t == nil {
			return nil
		}
		types = append(types, t)
	}
	return types
}

func ints(words []uint64) []int64 {
	out := make([]int64, len(words))
	for i, w := range words {
		out[i] = int64(w)
	}
	return out
}

func ints32(words []uint64) []int32 {
	out := make([]int32, len(words))
	for i, w := range words {
		out[i] = int32(w)
	}
	return out
}

// typeForm is the form of all datatypes that the checker constructs: with int counts, and without a handle in
// core/datatype. The checker keeps them under the handles of the recorded program.
const typeForm = datatype.Small | datatype.HandleByCaller

// makeType records the datatype that a datatype constructor has made.
func (c *Checker) makeType(k *rank, e *event) {
	made := e.Out("newtype")
	if !made.HasValue() {
		return
	}
	delete(k.types, made.Uint()) // the handle may be reused
	list := func(name string) []int64 { return ints(e.In(name).Words) }
	number := func(name string) int64 { return e.In(name).Int() }
	old := k.typeOf(e.In("oldtype").Uint())
	var t *datatype.Type
	var err error
	if old == nil && e.name != "MPI_Type_create_struct" {
		if t = predefinedResult(e); t == nil {
			return
		}
	} else {
		switch e.name {
		case "MPI_Type_contiguous":
			t, err = datatype.Contiguous(typeForm, number("count"), old)
		case "MPI_Type_vector":
			t, err = datatype.Vector(typeForm, number("count"), number("blocklength"), number("stride"),
				old)
		case "MPI_Type_create_hvector":
			t, err = datatype.Hvector(typeForm, number("count"), number("blocklength"),
				number("stride"), old)
		case "MPI_Type_indexed":
			t, err = datatype.Indexed(typeForm, list("array_of_blocklengths"),
				list("array_of_displacements"),
				old)
		case "MPI_Type_create_hindexed":
			t, err = datatype.Hindexed(typeForm, list("array_of_blocklengths"),
				list("array_of_displacements"), old)
		case "MPI_Type_create_indexed_block":
			t, err = datatype.IndexedBlock(typeForm, number("blocklength"),
				list("array_of_displacements"), old)
		case "MPI_Type_create_hindexed_block":
			t, err = datatype.HindexedBlock(typeForm, number("blocklength"), list("array_of_displacements"),
				old)
		case "MPI_Type_create_struct":
			types := k.typesOf(e.In("array_of_types").Words)
			if len(types) != len(e.In("array_of_types").Words) {
				return
			}
			t, err = datatype.Struct(typeForm, list("array_of_blocklengths"),
				list("array_of_displacements"),
				types)
		case "MPI_Type_create_subarray":
			t, err = datatype.Subarray(typeForm, list("array_of_sizes"), list("array_of_subsizes"),
				list("array_of_starts"),
				int32(number("order")), old)
		case "MPI_Type_create_darray":
			t, err = datatype.Darray(typeForm, int32(number("size")), int32(number("rank")),
				list("array_of_gsizes"),
				ints32(e.In("array_of_distribs").Words), ints32(e.In("array_of_dargs").Words),
				ints32(e.In("array_of_psizes").Words), int32(number("order")), old)
		case "MPI_Type_create_resized":
			t, err = datatype.Resized(typeForm, old, number("lb"), number("extent"))
		case "MPI_Type_dup":
			t, err = datatype.Dup(typeForm, old)
		}
	}
	if err == nil && t != nil && !e.Truncated {
		k.types[made.Uint()] = t
	}
}

// predefinedResult returns the predefined type that MPI_Type_create_f90_integer, _real or _complex returns; nil for
// other calls.
func predefinedResult(e *event) *datatype.Type {
	var t *datatype.Type
	switch e.name {
	case "MPI_Type_create_f90_integer":
		t, _ = datatype.F90Integer(int32(e.In("r").Int()))
	case "MPI_Type_create_f90_real":
		t, _ = datatype.F90Real(int32(e.In("p").Int()), int32(e.In("r").Int()))
	case "MPI_Type_create_f90_complex":
		t, _ = datatype.F90Complex(int32(e.In("p").Int()), int32(e.In("r").Int()))
	}
	return t
}

// maxSpans is the largest number of spans of an access. An access with more spans is ignored, because it cannot be
// replaced by one large span: the bytes between its spans belong to other data.
const maxSpans = 1 << 18

// spansOf returns the bytes of count elements of a type at an address. It returns nil if there are no bytes, if the
// datatype is unknown, or if there are more than maxSpans spans.
func (k *rank) spansOf(address uint64, count int64, h uint64) []span {
	t := k.typeOf(h)
	if t == nil || count <= 0 || t.Size() == 0 {
		return nil
	}
	l := t.Layout()
	lo, hi, ok := l.Bounds(count)
	if !ok {
		return nil
	}
	if l.Contiguous() {
		return []span{{address + uint64(lo), address + uint64(hi)}}
	}
	if l.Segments() > maxSpans/count {
		return nil
	}
	spans := make([]span, 0, count*l.Segments())
	for at, n := range reference.Segments(t.Program(), count, false, 0) {
		spans = append(spans, span{address + uint64(at), address + uint64(at+n)})
	}
	return merged(spans)
}

func inPlace(address uint64) bool { return address == abi.MPI_IN_PLACE }
