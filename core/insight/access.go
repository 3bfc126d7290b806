package insight

// accessRecord stands in a record in place of a function's number. Such a record lists the memory accesses that the
// program itself has made since its last call. It holds one group of words for each location in the program. The first
// word of a group is the location. The second has the kind of access in its low 8 bits, and the number of runs from bit
// 8 on. Four words for each run follow.
const accessRecord = 0xffff

// Kinds of access of the program. capi/access/access.h has the same values.
const (
	Load        = 0
	Store       = 1
	AtomicStore = 2
	AtomicLoad  = 3
)

// Access describes the memory accesses that one location in the program has made since the last call. Each atomic
// access has a group of its own, which is the last group of its record.
type Access struct {
	PC   uint64 // address of a byte after the accessing instruction
	Kind int
	Runs []Run
}

// Run describes Count blocks of Size bytes. The first block begins at Low, each further block Stride bytes after the
// previous one.
type Run struct {
	Low, Size, Stride, Count uint64
}

func decodeAccesses(words []uint64) (all []Access, err error) {
	for len(words) > 0 {
		if len(words) < 2 || uint64(len(words)-2)/4 < words[1]>>8 {
			return nil, errShort
		}
		a := Access{PC: words[0], Kind: int(words[1] & 0xff), Runs: make([]Run, words[1]>>8)}
		words = words[2:]
		for i := range a.Runs {
			a.Runs[i] = Run{words[0], words[1], words[2], words[3]}
			words = words[4:]
		}
		all = append(all, a)
	}
	return all, nil
}
