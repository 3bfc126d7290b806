package check

import "slices"

// vector says how much of each rank's history something comes after: its events up to a number.
type vector []uint32

func (v vector) join(w vector) {
	for i, n := range w {
		v[i] = max(v[i], n)
	}
}

func (v vector) clone() vector { return slices.Clone(v) }

// moment is an event of a rank.
type moment struct {
	rank int
	at   uint32
}

// before reports whether the event comes before what v is the time of.
func (m moment) before(v vector) bool { return v[m.rank] >= m.at }
