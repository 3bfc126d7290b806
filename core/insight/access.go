package insight

// ownAccesses stands in place of a function's number in records of what the program itself has done with memory since
// its last call: groups of words for each place. The second word is what is done, and above that how many pieces
// follow, of four words.
const ownAccesses = 0xffff

// What an access of the program does: capi/access/access.h has the same.
const (
	Load        = 0
	Store       = 1
	AtomicStore = 2
	AtomicLoad  = 3
)

// Access is what one place in the program has done with memory since the last call. Atomic ones come last, and alone.
type Access struct {
	Place  uint64 // an address behind the instruction
	Kind   int
	Pieces []Piece
}

// Piece is Count parts of Size bytes, the first from Low on, each Stride bytes behind the last one.
type Piece struct {
	Low, Size, Stride, Count uint64
}

// own reads what a record says of accesses.
func own(words []uint64) (all []Access, err error) {
	for len(words) > 0 {
		if len(words) < 2 || uint64(len(words)-2)/4 < words[1]>>8 {
			return nil, errShort
		}
		a := Access{Place: words[0], Kind: int(words[1] & 0xff), Pieces: make([]Piece, words[1]>>8)}
		words = words[2:]
		for i := range a.Pieces {
			a.Pieces[i] = Piece{words[0], words[1], words[2], words[3]}
			words = words[4:]
		}
		all = append(all, a)
	}
	return all, nil
}
