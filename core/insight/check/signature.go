package check

import (
	"fmt"

	"gompirma/core/abi"
	"gompirma/core/datatype"
)

// contents describes the data of a buffer.
type contents struct {
	bytes int64
	runs  []datatype.Run
	known bool // the runs are known
	sized bool // bytes is known
}

const mostRuns = 1024

func (k *rank) contents(count int64, h uint64) (s contents) {
	t := k.typeOf(h)
	if len(k.clock) == 0 && t != nil && count >= 0 { // a checker made by Follow needs only the size
		return contents{bytes: count * t.Size(), sized: true}
	}
	return contentsOf(count, t)
}

func contentsOf(count int64, t *datatype.Type) (s contents) {
	if t == nil || count < 0 {
		return s
	}
	s.bytes, s.sized = count*t.Size(), true
	if s.runs, s.known = t.Signature(count, mostRuns); !s.known {
		s.runs = nil
	}
	for _, r := range s.runs { // these types match any other
		if h := r.Basic.Handle; h == abi.MPI_BYTE || h == abi.MPI_PACKED || h == abi.MPI_CHAR {
			s.known = false
		}
	}
	return s
}

func alike(a, b *datatype.Basic) bool { return a == b || a.Class == b.Class && a.Size == b.Size }

// differs describes how the contents differ; "" if they are equal or the answer is uncertain. With part, b may have
// more elements than s.
func (s contents) differs(b contents, part bool) string {
	if !s.known || !b.known {
		return ""
	}
	i, k, left, right := 0, 0, int64(0), int64(0)
	for element := int64(0); ; {
		if left == 0 {
			if i == len(s.runs) {
				break
			}
			left, i = s.runs[i].N, i+1
		}
		if right == 0 {
			if k == len(b.runs) {
				return fmt.Sprintf("The data sizes differ: %d bytes in the first call, %d in the "+
					"second.", s.bytes, b.bytes)
			}
			right, k = b.runs[k].N, k+1
		}
		if x, y := s.runs[i-1].Basic, b.runs[k-1].Basic; !alike(x, y) {
			return fmt.Sprintf("Element %d is %s in the first call, %s in the "+
				"second.", element, x.Name, y.Name)
		}
		n := min(left, right)
		left, right, element = left-n, right-n, element+n
	}
	if !part && (right > 0 || k < len(b.runs)) {
		return fmt.Sprintf("The data sizes differ: %d bytes in the first call, %d in the "+
			"second.", s.bytes, b.bytes)
	}
	return ""
}
