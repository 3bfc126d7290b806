package check

import "slices"

// vector is a vector clock. Entry i is the number of preceding events of the strand with number i. Entries beyond the
// length of the vector are 0.
type vector []uint32

func (v *vector) join(w vector) {
	v.grow(len(w))
	for i, n := range w {
		(*v)[i] = max((*v)[i], n)
	}
}

// grow extends v to at least n strands.
func (v *vector) grow(n int) {
	if n > len(*v) {
		*v = append(*v, make(vector, n-len(*v))...)
	}
}

func (v vector) clone() vector { return slices.Clone(v) }

// before reports whether all events that v covers are also covered by w.
func (v vector) before(w vector) bool {
	for i, n := range v {
		if n > 0 && (i >= len(w) || n > w[i]) {
			return false
		}
	}
	return true
}

// timestamp identifies one event of a strand: `count` is the strand's entry of the vector clock at the event.
type timestamp struct {
	strand int
	count  uint32
}

// before reports whether v covers the event.
func (m timestamp) before(v vector) bool { return m.strand < len(v) && v[m.strand] >= m.count }
