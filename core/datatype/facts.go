package datatype

// Facts is what the calls that only ask tell of a type, committed or not. They never change.
type Facts struct {
	Size, LB, Extent, TrueLB, TrueExtent int64 // in bytes
	Numbers                              int64 // basic elements of one copy, where a pair type is two
	Unit                                 int64 // bytes of each of these; 0: they differ, or there are none
	// MPI_Type_get_envelope_c
	Combiner                           int32
	Integers, Addresses, Counts, Types int64
	Large                              bool // only the forms with MPI_Count can tell how it was constructed
	// For constructing others: the largest alignment of an element; whether lb and extent were given, not found.
	Align   int32
	Resized bool
	// bytes of what external32 has in reverse, and nothing else is different there; 0: something else is, or they
	// differ
	Reversed int32
}

// Facts returns the facts.
func (t *Type) Facts() Facts {
	f := Facts{
		Size: t.Size(), LB: t.LB(), Extent: t.Extent(), Numbers: t.numbers, Unit: t.unit,
		Combiner: t.args.combiner, Large: t.Large(), Types: int64(len(t.args.types)),
		Align: t.align, Resized: t.resized, Reversed: t.reversed,
	}
	f.TrueLB, f.TrueExtent = t.TrueExtent()
	integers, counts := int64(len(t.args.ints)), int64(len(t.args.counts))
	if t.args.large() {
		f.Integers, f.Counts = integers, counts
	} else {
		f.Addresses = int64(t.args.addresses())
		f.Integers = integers + counts - f.Addresses
	}
	return f
}
