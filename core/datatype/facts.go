package datatype

// Facts holds the properties of a type that the inquiry calls return. A type need not be committed. Facts is immutable.
type Facts struct {
	Size, LB, Extent, TrueLB, TrueExtent int64 // in bytes
	Numbers                              int64 // number of basic elements of one copy; a pair type counts as two
	// Size in bytes of each basic element; 0 if the sizes differ or the type has no elements.
	Unit int64
	// The results of MPI_Type_get_envelope_c.
	Combiner                           int32
	Integers, Addresses, Counts, Types int64
	Large                              bool // constructed with MPI_Count, so only MPI_Type_get_contents_c works
	// For constructing other types: the largest alignment of an element; whether lb and extent were set explicitly.
	Align   int32
	Resized bool
	// Size in bytes of the units that must be reversed to convert the data to external32; 0 if a reversal is not
	// enough.
	Reversed int32
}

// Facts returns the properties of the type that the inquiry calls return.
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
