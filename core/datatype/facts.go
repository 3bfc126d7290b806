package datatype

// Facts is what the inquiry calls return for a type, committed or not. It is immutable.
type Facts struct {
	Size, LB, Extent, TrueLB, TrueExtent int64 // in bytes
	Numbers                              int64 // basic elements of one copy; a pair type counts as two
	// bytes of each basic element; 0 if their sizes differ or the type has no elements
	Unit int64
	// MPI_Type_get_envelope_c
	Combiner                           int32
	Integers, Addresses, Counts, Types int64
	Large                              bool // constructed with MPI_Count: needs MPI_Type_get_contents_c
	// For constructing other types: the largest alignment of an element; whether lb and extent were set explicitly.
	Align   int32
	Resized bool
	// Size of the units whose bytes external32 reverses, if it changes nothing else in any element; 0 otherwise.
	Reversed int32
}

// Facts returns what the inquiry calls return for the type.
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
