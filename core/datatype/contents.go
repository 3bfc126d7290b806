package datatype

import (
	"gompirma/core/abi"
	"gompirma/core/mpierr"
)

// args holds the arguments of a type's constructor, in the order of MPI_Type_get_contents_c. This is also the order of
// the constructor's large-count form. The field `counts` includes the displacements. The field `form` tells which form
// of the constructor was called.
type args struct {
	combiner int32
	form     Form
	ints     []int32
	counts   []int64
	types    []*Type
}

// Contents holds the arguments from which a type was constructed (MPI-5.0 5.1.13), in the arrays that
// MPI_Type_get_contents_c returns. For a constructor without _c, Counts is empty: Integers includes its counts, and
// Addresses its displacements in bytes.
type Contents struct {
	Combiner  int32
	Integers  []int32
	Addresses []int64
	Counts    []int64
	Types     []*Type
}

// Large returns whether the type was constructed with MPI_Count counts; MPI_Type_get_envelope without _c then fails.
func (t *Type) Large() bool { return t.args.large() && len(t.args.counts) > 0 }

func (a *args) large() bool { return a.form&Large != 0 }

// addresses returns how many entries at the end of a.counts are of type MPI_Aint in the small form of the constructor.
func (a *args) addresses() int {
	switch a.combiner {
	case abi.MPI_COMBINER_HVECTOR:
		return 1
	case abi.MPI_COMBINER_HINDEXED, abi.MPI_COMBINER_STRUCT, abi.MPI_COMBINER_HINDEXED_BLOCK:
		return int(a.counts[0])
	case abi.MPI_COMBINER_RESIZED:
		return 2
	}
	return 0
}

// Contents returns how the type was constructed. For a named type, only the combiner is set.
func (t *Type) Contents() Contents {
	a := &t.args
	c := Contents{Combiner: a.combiner, Integers: a.ints, Types: a.types}
	if a.large() {
		c.Counts = a.counts
		return c
	}
	counts, bytes := a.counts, a.addresses()
	c.Addresses = counts[len(counts)-bytes:]
	narrow := make([]int32, 0, len(a.ints)+len(counts)-bytes)
	before := 0 // number of integers that precede the counts in the result
	switch a.combiner {
	case abi.MPI_COMBINER_SUBARRAY:
		before = 1
	case abi.MPI_COMBINER_DARRAY:
		before = 3
	case abi.MPI_COMBINER_F90_REAL, abi.MPI_COMBINER_F90_COMPLEX, abi.MPI_COMBINER_F90_INTEGER:
		before = len(a.ints)
	}
	narrow = append(narrow, a.ints[:before]...)
	for _, n := range counts[:len(counts)-bytes] {
		narrow = append(narrow, int32(n))
	}
	c.Integers = append(narrow, a.ints[before:]...)
	return c
}

// CheckContents validates the sizes of the arrays of MPI_Type_get_contents_c. Errors: MPI_ERR_TYPE if the type is a
// named one; MPI_ERR_ARG if an array is too small.
func (t *Type) CheckContents(integers, addresses, counts, types int64) error {
	if t.args.combiner == abi.MPI_COMBINER_NAMED {
		return mpierr.New(abi.MPI_ERR_TYPE, "%s is a predefined datatype, which has no contents", t)
	}
	c := t.Contents()
	for _, a := range []struct {
		what       string
		have, need int64
	}{
		{"integers", integers, int64(len(c.Integers))}, {"addresses", addresses, int64(len(c.Addresses))},
		{"large_counts", counts, int64(len(c.Counts))}, {"datatypes", types, int64(len(c.Types))},
	} {
		if a.have < a.need {
			return mpierr.New(abi.MPI_ERR_ARG, "max_%s is %d, but datatype %s needs %d", a.what,
				a.have, t, a.need)
		}
	}
	return nil
}

// Recreate returns the type that MPI_Type_get_contents returns for t. This is t itself if it is predefined. Otherwise
// it is a new type with the same constructor arguments and a handle of its own; the new type is not committed.
func (t *Type) Recreate() (*Type, error) {
	if t.Predefined() {
		return t, nil
	}
	a := t.args
	a.form &^= HandleByCaller
	return like(t, a).register(&builder{})
}
