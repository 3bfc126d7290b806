package check

import (
	"fmt"

	"gompirma/core/abi"
	"gompirma/core/datatype"
)

// dataInfo describes the data of a buffer: its size and type signature.
type dataInfo struct {
	bytes    int64
	runs     []run
	hasRuns  bool // runs is known
	hasBytes bool // bytes is known
}

const maxRuns = 1024

func (k *rank) dataOf(count int64, h uint64) (s dataInfo) {
	t := k.typeOf(h)
	if len(k.clock) == 0 && t != nil && count >= 0 { // a checker made by Follow needs only the size
		return dataInfo{bytes: count * t.size, hasBytes: true}
	}
	return dataOfType(count, t)
}

func dataOfType(count int64, t *typemap) (s dataInfo) {
	if t == nil || count < 0 {
		return s
	}
	s.bytes, s.hasBytes = count*t.size, true
	if s.runs, s.hasRuns = t.signature(count); !s.hasRuns {
		s.runs = nil
	}
	for _, r := range s.runs { // data of MPI_BYTE, MPI_PACKED or MPI_CHAR matches data of any type
		if h := r.basic.Handle; h == abi.MPI_BYTE || h == abi.MPI_PACKED || h == abi.MPI_CHAR {
			s.hasRuns = false
		}
	}
	return s
}

func sameBasic(a, b *datatype.Basic) bool { return a == b || a.Class == b.Class && a.Size == b.Size }

// mismatch describes how the type signatures of s and b differ. It returns "" if they are equal or one is unknown. If
// mayExceed is true, b may have more elements than s. `first` and `second` say where s and b are, such as "in the first
// call".
func (s dataInfo) mismatch(b dataInfo, mayExceed bool, first, second string) string {
	if !s.hasRuns || !b.hasRuns {
		return ""
	}
	i, k, left, right := 0, 0, int64(0), int64(0)
	for element := int64(0); ; {
		if left == 0 {
			if i == len(s.runs) {
				break
			}
			left, i = s.runs[i].n, i+1
		}
		if right == 0 {
			if k == len(b.runs) {
				return sizesDiffer(s, b, first, second)
			}
			right, k = b.runs[k].n, k+1
		}
		if x, y := s.runs[i-1].basic, b.runs[k-1].basic; !sameBasic(x, y) {
			return fmt.Sprintf("Element %d is %s %s, but %s %s.", element, x.Name, first, y.Name, second)
		}
		n := min(left, right)
		left, right, element = left-n, right-n, element+n
	}
	if !mayExceed && (right > 0 || k < len(b.runs)) {
		return sizesDiffer(s, b, first, second)
	}
	return ""
}

func sizesDiffer(a, b dataInfo, first, second string) string {
	return fmt.Sprintf("The data sizes differ: %d bytes %s, but %d bytes %s.", a.bytes, first, b.bytes, second)
}
