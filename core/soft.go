package core

import (
	"strconv"
	"strings"

	"gompirma/core/abi"
	"gompirma/core/mpierr"
)

// Soft is the value of the info key soft (MPI-5.0 11.8.4): the numbers of processes that a program may start.
type Soft []triplet

// triplet is the set first, first + step and so on, up to last.
type triplet struct{ first, last, step int }

// ParseSoft parses a list "a,a:b,a:b:c,...". Errors: MPI_ERR_INFO_VALUE.
func ParseSoft(text string) (set Soft, err error) {
	for _, item := range strings.Split(text, ",") {
		fields := strings.Split(item, ":")
		numbers := [3]int{0, 0, 1}
		for i, f := range fields[:min(len(fields), 3)] {
			n, failed := strconv.ParseInt(strings.TrimSpace(f), 10, 32)
			if failed != nil {
				err = failed
			}
			numbers[i] = int(n)
		}
		t := triplet{numbers[0], numbers[1], numbers[2]}
		if len(fields) == 1 {
			t.last = t.first
		}
		if err != nil || len(fields) > 3 || t.step == 0 || (t.last-t.first)*t.step < 0 {
			return nil, mpierr.New(abi.MPI_ERR_INFO_VALUE, "soft is %.200q; it must be a list of numbers "+
				"N, ranges FIRST:LAST and FIRST:LAST:STEP, such as 1,2:8:2", text)
		}
		set = append(set, t)
	}
	return set, nil
}

// Largest returns the largest number of the set that is not above `most`. It returns false if the set has no number
// from 0 to `most`.
func (set Soft) Largest(most int) (n int, ok bool) {
	n = -1
	for _, t := range set {
		low, high, step := t.first, t.last, t.step
		if step < 0 {
			step = -step
			high, low = low, high+(low-high)%step
		}
		if high = min(high, most); high >= low {
			n = max(n, low+(high-low)/step*step)
		}
	}
	return n, n >= 0
}
