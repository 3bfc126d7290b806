package datatype

// signature lists the types inside a type in typemap order. A part stands for n consecutive copies of a type.
type signature []part

type part struct {
	t *Type
	n int64
}

// append adds n copies of t at the end. If the signature of t has only one part, which stands for copies of a type u,
// append adds copies of u instead. So a chain of constructors does not make the signature deeper.
func (s signature) append(t *Type, n int64) signature {
	if len(t.sig) == 1 {
		t, n = t.sig[0].t, n*t.sig[0].n
	}
	if k := len(s); k > 0 && s[k-1].t == t {
		s[k-1].n += n
		return s
	}
	return append(s, part{t, n})
}

// ElementsIn returns the number of basic elements in the first `bytes` bytes of data of consecutive copies of the type.
// It is for MPI_Get_elements (MPI-5.0 5.1.11). A pair type counts as two. The result `ok` is false if the data ends
// inside an element.
func (t *Type) ElementsIn(bytes int64) (n int64, ok bool) {
	size := t.Size()
	if size == 0 {
		return 0, bytes == 0
	}
	n = bytes / size * t.numbers
	for bytes %= size; bytes > 0; {
		if b := t.basic; b != nil {
			if b.Class == Pair && bytes == BasicOf(b.Value).Size {
				return n + 1, true
			}
			return n, false
		}
		for _, p := range t.sig {
			size = p.t.Size()
			if all := p.n * size; bytes >= all {
				n, bytes = n+p.n*p.t.numbers, bytes-all
				continue
			}
			n, bytes = n+bytes/size*p.t.numbers, bytes%size
			t = p.t
			break
		}
	}
	return n, true
}

// BytesOf returns the number of bytes of the first n basic elements of consecutive copies of the type. It is for
// MPI_Status_set_elements (MPI-5.0 13.3). The result `ok` is false if n is negative or the bytes do not fit 64 bits.
func (t *Type) BytesOf(n int64) (bytes int64, ok bool) {
	if n < 0 || t.numbers == 0 {
		return 0, n == 0
	}
	var a arith
	bytes = a.mul(n/t.numbers, t.Size())
	for n %= t.numbers; n > 0; {
		if t.basic != nil { // a pair type; n is 1
			return a.add(bytes, BasicOf(t.basic.Value).Size), !a.overflow
		}
		for _, p := range t.sig {
			if all := p.n * p.t.numbers; n >= all {
				n, bytes = n-all, a.add(bytes, p.n*p.t.Size())
				continue
			}
			bytes, n = a.add(bytes, n/p.t.numbers*p.t.Size()), n%p.t.numbers
			t = p.t
			break
		}
	}
	return bytes, !a.overflow
}

// Run is several elements of one predefined type.
type Run struct {
	Basic *Basic
	N     int64
}

// Signature returns the basic elements of count copies of the type (MPI-5.0 5.1), as runs of elements of the same
// predefined type. ok is false if there are more than maxRuns runs.
func (t *Type) Signature(count int64, maxRuns int) (runs []Run, ok bool) {
	return t.runs(nil, count, maxRuns)
}

func (t *Type) runs(runs []Run, count int64, maxRuns int) ([]Run, bool) {
	b, n := t.basic, int64(1)
	if b == nil {
		b, n = t.elem, t.elements
	}
	if b != nil {
		if n *= count; n == 0 {
			return runs, true
		}
		if k := len(runs); k > 0 && runs[k-1].Basic == b {
			runs[k-1].N += n
			return runs, true
		}
		return append(runs, Run{b, n}), len(runs) < maxRuns
	}
	ok := true
	for ; count > 0 && ok; count-- {
		for i := 0; i < len(t.sig) && ok; i++ {
			runs, ok = t.sig[i].t.runs(runs, t.sig[i].n, maxRuns)
		}
		if len(t.sig) == 0 {
			break
		}
	}
	return runs, ok
}
