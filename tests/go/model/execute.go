package model

import (
	"bytes"
	"math/rand/v2"
)

// Execute simulates a correct library: it runs a program in this process, with the calls of different ranks in random
// order. It serves to test the generator and the checker.
func Execute(p *Program, r *rand.Rand) *Output {
	memory := make([][][]byte, len(p.Windows))
	for i, w := range p.Windows {
		for _, m := range w.Members {
			memory[i] = append(memory[i], bytes.Clone(m.Init))
		}
	}
	out := &Output{}
	for _, ph := range p.Phases {
		next, times := make([]int, p.N), make([]int, p.N)
		results := make([][]byte, p.N)
		for left := p.N; left > 0; {
			rank := r.IntN(p.N)
			if next[rank] > len(ph.Ranks[rank]) {
				continue
			}
			if next[rank] == len(ph.Ranks[rank]) {
				next[rank]++
				left--
				continue
			}
			a := ph.Ranks[rank][next[rank]]
			if a.ID != 0 {
				results[rank] = append(results[rank], execute(a, memory[ph.Win])...)
			}
			if times[rank]++; times[rank] >= a.Times {
				next[rank]++
				times[rank] = 0
			}
		}
		var after [][]byte
		for _, m := range memory[ph.Win] {
			after = append(after, bytes.Clone(m))
		}
		out.Memory, out.Results = append(out.Memory, after), append(out.Results, results)
	}
	return out
}

// execute performs one call immediately and returns its result buffer.
func execute(a *Action, memory [][]byte) []byte {
	var result []byte
	if a.Result != nil {
		result = bytes.Repeat([]byte{resultFill}, a.Result.Size)
	}
	if a.Target == procNull {
		return result
	}
	var from, to []int
	if a.Origin != nil {
		from = offsets(a.OType, a.OCount, a.Origin.Pos)
	}
	if a.Result != nil {
		to = offsets(a.RType, a.RCount, a.Result.Pos)
	}
	i := 0
	a.TType.each(a.TCount, func(off int, b *Basic) {
		target := memory[a.Target][a.At+off : a.At+off+b.Extent]
		if result != nil && a.Verb == verbLoad {
			copy(result[to[i]:], target)
		} else if result != nil {
			b.copy(result[to[i]:], target)
		}
		var operand, compare []byte
		if len(from) > 0 {
			operand = a.Origin.Data[from[i]:]
		}
		if a.Compare != nil {
			compare = a.Compare.Data
		}
		switch a.Verb {
		case verbPut:
			b.copy(target, operand)
		case verbStore:
			copy(target, operand[:b.Extent])
		case verbIncrement:
			b.reduce(opSum, target, operand, nil)
		case verbGet, verbLoad:
		default:
			b.reduce(a.Op, target, operand, compare)
		}
		i++
	})
	return result
}
