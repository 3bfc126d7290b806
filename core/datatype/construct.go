package datatype

import (
	"gompirma/core/abi"
	"gompirma/core/mpierr"
)

// Form is the form of a constructor. It determines the results of MPI_Type_get_envelope and MPI_Type_get_contents.
type Form uint8

// The forms.
const (
	Small Form = 0 // int counts
	Large Form = 1 // MPI_Count counts: MPI_Type_vector_c and so on
	// A flag in addition to Small or Large: the caller assigns the handle (AssignHandle).
	HandleByCaller Form = 2
)

// A component stands for n copies of t in a type. The field lo is the lowest lower bound of these copies, and hi is
// their highest upper bound, in bytes.
type component struct {
	t      *Type
	n      int64
	lo, hi int64
}

// span returns the component of n copies of t, `step` bytes apart, the first at the displacement `disp`.
func (b *builder) span(t *Type, disp, n, step int64) component {
	last := int64(0)
	if n > 0 {
		last = b.mul(n-1, step)
	}
	return component{t, n, b.add(b.add(disp, min(0, last)), t.lb), b.add(b.add(disp, max(0, last)), t.ub)}
}

// derive creates the type that the constructor arguments `a` describe. The components in comps are in typemap order.
// The function `place` composes the layout of the new type from the layouts of the old types, which it gets by its
// argument `view`. A type with separate layouts of bytes and of elements (format.go) needs two calls of `place`, with a
// different `view` each.
func derive(b *builder, a args, comps []component, place func(view func(*Type) placed) placed) (*Type, error) {
	t := compose(b, a, comps, place)
	return t.register(b)
}

// compose is derive without the assignment of a handle.
func compose(b *builder, a args, comps []component, place func(view func(*Type) placed) placed) *Type {
	t := &Type{args: a, align: 1}
	several := false
	lo, hi := int64(0), int64(0) // bounds with alignment padding; they count if no component has explicit bounds
	for _, c := range comps {
		if c.n == 0 {
			continue
		}
		if c.t.resized {
			if !t.resized {
				t.resized, t.lb, t.ub = true, c.lo, c.hi
			}
			t.lb, t.ub = min(t.lb, c.lo), max(t.ub, c.hi)
		}
		if c.t.elements == 0 {
			continue
		}
		if t.elements == 0 {
			lo, hi = c.lo, c.hi
		}
		lo, hi = min(lo, c.lo), max(hi, c.hi)
		if t.elements == 0 {
			t.unit, t.reversed = c.t.unit, c.t.reversed
		}
		if t.unit != c.t.unit {
			t.unit = 0
		}
		if t.reversed != c.t.reversed {
			t.reversed = 0
		}
		switch {
		case c.t.elem == nil || t.elem != nil && t.elem != c.t.elem:
			several = true
		default:
			t.elem = c.t.elem
		}
		t.align = max(t.align, c.t.align)
		t.elements = b.add(t.elements, b.mul(c.n, c.t.elements))
		t.numbers = b.add(t.numbers, b.mul(c.n, c.t.numbers))
		t.external = b.add(t.external, b.mul(c.n, c.t.external))
		t.sig = t.sig.append(c.t, c.n)
	}
	if several {
		t.elem = nil
	}
	t.bytes = place(func(t *Type) placed { return t.bytes })
	if t.elem != nil {
		t.elems = t.bytes
		if t.elem.Size != t.elem.Extent {
			t.elems = place(func(t *Type) placed { return t.elems })
		}
	}
	if t.elements > 0 && !t.resized {
		align := int64(t.align)
		t.lb, t.ub = lo, b.add(lo, b.mul(b.add(b.sub(hi, lo), align-1)/align, align))
	}
	return t
}

// like returns a type with the layout of the type `old` and the constructor arguments `a`.
func like(old *Type, a args) *Type {
	return &Type{
		args: a, elem: old.elem, elements: old.elements, numbers: old.numbers, unit: old.unit,
		external: old.external, reversed: old.reversed, sig: old.sig,
		lb: old.lb, ub: old.ub, align: old.align, resized: old.resized, bytes: old.bytes, elems: old.elems,
	}
}

// register assigns a handle to a new type, unless the caller does so (HandleByCaller). It acquires references to the
// types from which the type was constructed. Errors: MPI_ERR_VALUE_TOO_LARGE if a size or a displacement exceeds 64
// bits.
func (t *Type) register(b *builder) (*Type, error) {
	b.sub(t.ub, t.lb)
	if b.overflow {
		return nil, mpierr.New(abi.MPI_ERR_VALUE_TOO_LARGE,
			"the size of the datatype or a displacement exceeds 64 bits")
	}
	t.refs.Store(1)
	if t.args.form&HandleByCaller == 0 {
		number, ok := derived.Add(t)
		h := number
		if ok && Handles != nil {
			if h, ok = Handles.Add(t, number); !ok {
				derived.Remove(number)
			}
		}
		t.number, t.h = number, h
		if !ok {
			return nil, mpierr.New(abi.MPI_ERR_NO_MEM,
				"cannot create a datatype: out of memory, or too many datatypes exist (%d)",
				derived.Len())
		}
	}
	for _, old := range t.args.types {
		old.Retain()
	}
	return t, nil
}

func checkCount(count int64) error {
	if count < 0 {
		return mpierr.New(abi.MPI_ERR_COUNT, "count is %d; it must not be negative", count)
	}
	return nil
}

func checkBlocklength(n int64) error {
	if n < 0 {
		return mpierr.New(abi.MPI_ERR_ARG, "blocklength is %d; it must not be negative", n)
	}
	return nil
}

func checkBlocklengths(lengths []int64) error {
	for i, n := range lengths {
		if n < 0 {
			return mpierr.New(abi.MPI_ERR_ARG, "array_of_blocklengths[%d] is %d; it must not be "+
				"negative", i, n)
		}
	}
	return nil
}

// Dup creates a copy of the type `old` (MPI-5.0 5.1.10). The copy is committed if `old` is committed. Dup does not copy
// name and attributes.
func Dup(form Form, old *Type) (*Type, error) {
	t := like(old, args{combiner: abi.MPI_COMBINER_DUP, form: form, types: []*Type{old}})
	if old.Committed() {
		t.prog.Store(old.prog.Load())
		t.committed.Store(true)
	}
	return t.register(&builder{})
}

// Contiguous creates the type of `count` copies of the type `old`, one after another (MPI-5.0 5.1.2). Errors:
// MPI_ERR_COUNT if `count` is negative. Like all constructors, it returns MPI_ERR_VALUE_TOO_LARGE if the size does not
// fit 64 bits.
func Contiguous(form Form, count int64, old *Type) (*Type, error) {
	if err := checkCount(count); err != nil {
		return nil, err
	}
	b := &builder{}
	a := args{combiner: abi.MPI_COMBINER_CONTIGUOUS, form: form, counts: []int64{count}, types: []*Type{old}}
	return derive(b, a, []component{b.span(old, 0, count, old.Extent())}, func(view func(*Type) placed) placed {
		return b.repeat(view(old), count, old.Extent())
	})
}

// Vector creates the type of `count` blocks, each of `blocklength` copies of the type `old`. The distance of the blocks
// is `stride` extents of `old` (MPI-5.0 5.1.2). Errors: MPI_ERR_COUNT if `count` is negative; MPI_ERR_ARG if
// `blocklength` is negative.
func Vector(form Form, count, blocklength, stride int64, old *Type) (*Type, error) {
	b := &builder{}
	a := args{combiner: abi.MPI_COMBINER_VECTOR, form: form, counts: []int64{count, blocklength, stride},
		types: []*Type{old}}
	return vector(b, a, count, blocklength, b.mul(stride, old.Extent()), old)
}

// Hvector is like Vector, but `stride` is in bytes.
func Hvector(form Form, count, blocklength, stride int64, old *Type) (*Type, error) {
	a := args{combiner: abi.MPI_COMBINER_HVECTOR, form: form, counts: []int64{count, blocklength, stride},
		types: []*Type{old}}
	return vector(&builder{}, a, count, blocklength, stride, old)
}

func vector(b *builder, a args, count, blocklength, step int64, old *Type) (*Type, error) {
	if err := checkCount(count); err != nil {
		return nil, err
	}
	if err := checkBlocklength(blocklength); err != nil {
		return nil, err
	}
	if count <= 1 || blocklength == 0 {
		b.overflow = false // a single block has no stride, so its stride may have any value
	}
	return derive(b, a, b.grid(old, count, step, blocklength), func(view func(*Type) placed) placed {
		return b.repeat(b.repeat(view(old), blocklength, old.Extent()), count, step)
	})
}

// grid returns the component of `count` blocks, `step` bytes apart. Each block has `blocklength` copies of the type
// `old`.
func (b *builder) grid(old *Type, count, step, blocklength int64) []component {
	if count == 0 || blocklength == 0 {
		return nil
	}
	row := b.span(old, 0, blocklength, old.Extent())
	last := b.mul(count-1, step)
	return []component{{old, b.mul(count, blocklength), b.add(row.lo, min(0, last)), b.add(row.hi, max(0, last))}}
}

// Indexed creates a type that consists of blocks. Block i has blocklengths[i] copies of the type `old` and begins at
// displacements[i] extents of `old` (MPI-5.0 5.1.2). The slices have the same length. Errors: MPI_ERR_ARG if a
// blocklength is negative.
func Indexed(form Form, blocklengths, displacements []int64, old *Type) (*Type, error) {
	a := args{combiner: abi.MPI_COMBINER_INDEXED, form: form, counts: join(blocklengths, displacements),
		types: []*Type{old}}
	return indexed(a, func(i int) int64 { return blocklengths[i] }, displacements, old.Extent(), old)
}

// Hindexed is like Indexed, but displacements are in bytes.
func Hindexed(form Form, blocklengths, displacements []int64, old *Type) (*Type, error) {
	a := args{combiner: abi.MPI_COMBINER_HINDEXED, form: form, counts: join(blocklengths, displacements),
		types: []*Type{old}}
	return indexed(a, func(i int) int64 { return blocklengths[i] }, displacements, 1, old)
}

// IndexedBlock is like Indexed, but all blocks have the same length.
func IndexedBlock(form Form, blocklength int64, displacements []int64, old *Type) (*Type, error) {
	if err := checkBlocklength(blocklength); err != nil {
		return nil, err
	}
	counts := append([]int64{int64(len(displacements)), blocklength}, displacements...)
	a := args{combiner: abi.MPI_COMBINER_INDEXED_BLOCK, form: form, counts: counts, types: []*Type{old}}
	return indexed(a, func(int) int64 { return blocklength }, displacements, old.Extent(), old)
}

// HindexedBlock is like IndexedBlock, but displacements are in bytes.
func HindexedBlock(form Form, blocklength int64, displacements []int64, old *Type) (*Type, error) {
	if err := checkBlocklength(blocklength); err != nil {
		return nil, err
	}
	counts := append([]int64{int64(len(displacements)), blocklength}, displacements...)
	a := args{combiner: abi.MPI_COMBINER_HINDEXED_BLOCK, form: form, counts: counts, types: []*Type{old}}
	return indexed(a, func(int) int64 { return blocklength }, displacements, 1, old)
}

// join returns a list of the number of blocks, the blocklengths and the displacements. This is the order of
// MPI_Type_get_contents.
func join(blocklengths, displacements []int64) []int64 {
	out := make([]int64, 0, 1+2*len(blocklengths))
	out = append(out, int64(len(blocklengths)))
	return append(append(out, blocklengths...), displacements...)
}

func indexed(a args, length func(i int) int64, displacements []int64, unit int64, old *Type) (*Type, error) {
	b := &builder{}
	extent := old.Extent()
	all := component{t: old}
	for i, d := range displacements {
		n := length(i)
		if n < 0 {
			return nil, mpierr.New(abi.MPI_ERR_ARG, "array_of_blocklengths[%d] is %d; it must not be "+
				"negative", i, n)
		}
		if n == 0 {
			continue
		}
		c := b.span(old, b.mul(d, unit), n, extent)
		if all.n == 0 {
			all = c
			continue
		}
		all.n, all.lo, all.hi = b.add(all.n, n), min(all.lo, c.lo), max(all.hi, c.hi)
	}
	return derive(b, a, []component{all}, func(view func(*Type) placed) placed {
		one := view(old)
		if one.n == nil || b.overflow {
			return placed{}
		}
		if one.n.kind == NodeBlock && one.n.size == extent { // dense: every block is contiguous
			disps, sizes := make([]int64, 0, len(displacements)), make([]int64, 0, len(displacements))
			for i, d := range displacements {
				if n := length(i); n > 0 {
					disps, sizes = append(disps, b.add(d*unit, one.disp)),
						append(sizes, b.mul(n, extent))
				}
			}
			return b.blocks(disps, sizes)
		}
		items := make([]placed, 0, len(displacements))
		known := map[int64]placed{} // layout of a block, by blocklength
		for i, d := range displacements {
			n := length(i)
			if n == 0 {
				continue
			}
			row, ok := known[n]
			if !ok {
				row = b.repeat(one, n, extent)
				known[n] = row
			}
			items = append(items, b.at(row, d*unit))
		}
		return b.concat(items)
	})
}

// Struct creates the type of blocklengths[i] copies of types[i] at displacements[i] bytes, for each i (MPI-5.0 5.1.2).
// The slices have the same length. Errors: MPI_ERR_ARG if a blocklength is negative.
func Struct(form Form, blocklengths, displacements []int64, types []*Type) (*Type, error) {
	if err := checkBlocklengths(blocklengths); err != nil {
		return nil, err
	}
	b := &builder{}
	comps := make([]component, 0, len(types))
	for i, t := range types {
		if blocklengths[i] > 0 {
			comps = append(comps, b.span(t, displacements[i], blocklengths[i], t.Extent()))
		}
	}
	a := args{combiner: abi.MPI_COMBINER_STRUCT, form: form, counts: join(blocklengths, displacements),
		types: append([]*Type(nil), types...)}
	return derive(b, a, comps, func(view func(*Type) placed) placed {
		items := make([]placed, 0, len(types))
		for i, t := range types {
			if blocklengths[i] > 0 {
				items = append(items, b.at(b.repeat(view(t), blocklengths[i], t.Extent()),
					displacements[i]))
			}
		}
		return b.concat(items)
	})
}

// Resized creates a copy of the type `old` with a different lower bound and extent (MPI-5.0 5.1.7). The extent may be
// negative.
func Resized(form Form, old *Type, lb, extent int64) (*Type, error) {
	b := &builder{}
	t := like(old, args{combiner: abi.MPI_COMBINER_RESIZED, form: form, counts: []int64{lb, extent},
		types: []*Type{old}})
	t.lb, t.ub, t.resized = lb, b.add(lb, extent), true
	return t.register(b)
}
