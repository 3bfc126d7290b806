package datatype

// signature is the sequence of types inside a type, in typemap order: n copies of each part.
type signature []part

type part struct {
	t *Type
	n int64
}

// append adds n copies of t at the end. The signature of a type that is one part itself is taken in its place, so that chains of constructors stay
// one level deep.
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
