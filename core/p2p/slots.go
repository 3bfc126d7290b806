package p2p

// slots gives numbers to requests that records of other processes refer to. A number is never the same for two requests
// until 2^32 others have used its place, so a late or forged answer finds nothing. Guarded by the engine's lock.
type slots struct {
	at    []slot
	free  []uint32
	used  int
	added uint64 // how often there has been a new one
	first uint32 // the first generation of a place that has never been used, less 1
}

type slot struct {
	op  *op
	gen uint32
}

// add returns a number for o, never 0.
func (s *slots) add(o *op) uint64 {
	s.used++
	s.added++
	if n := len(s.free); n > 0 {
		i := s.free[n-1]
		s.free = s.free[:n-1]
		s.at[i].op = o
		return uint64(s.at[i].gen)<<32 | uint64(i)
	}
	gen := max(s.first+1, 1)
	s.at = append(s.at, slot{op: o, gen: gen})
	return uint64(gen)<<32 | uint64(len(s.at)-1)
}

// get returns the request of a number, nil if there is none.
func (s *slots) get(id uint64) *op {
	if i := uint32(id); int(i) < len(s.at) && s.at[i].gen == uint32(id>>32) {
		return s.at[i].op
	}
	return nil
}

// remove frees a number that get knows.
func (s *slots) remove(id uint64) {
	i := uint32(id)
	s.at[i].op = nil
	s.at[i].gen++
	if s.at[i].gen == 0 {
		s.at[i].gen = 1
	}
	s.free = append(s.free, i)
	if s.used--; s.used == 0 && len(s.at) > manySlots {
		for i := range s.at {
			s.first = max(s.first, s.at[i].gen)
		}
		s.at, s.free = nil, nil
	}
}

// manySlots are given back when none is in use.
const manySlots = 4096
