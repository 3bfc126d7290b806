package boot

import (
	"encoding/binary"
	"fmt"
	"math"
)

// AllGather returns the values of all processes, by rank, to every process. It is collective. Values may differ in
// length. The key `name` must be new in this job and has at most 16 bytes.
//
// With PMIx, the launcher collects the values. Otherwise the ranks form blocks of sqrt(Size) ranks. The first process
// of each block collects the block's values and publishes them as one value. So each process publishes at most two
// values and fetches about 2 sqrt(Size) values.
func AllGather(c Client, name, value string) ([]string, error) {
	if p, ok := c.(*pmixJob); ok {
		return p.allGather(name, value)
	}
	n, me := c.Size(), c.Rank()
	all := make([]string, n)
	if n == 1 {
		all[0] = value
		return all, nil
	}
	block := 1
	if n > 4 {
		block = int(math.Ceil(math.Sqrt(float64(n))))
	}
	if err := c.Put(fmt.Sprintf("%s.%d", name, me), value); err != nil {
		return nil, err
	}
	if err := c.Fence(); err != nil {
		return nil, err
	}
	if block == 1 {
		return all, getEach(c, name, 0, all)
	}
	if me%block == 0 {
		mine := all[me:min(me+block, n)]
		if err := getEach(c, name, me, mine); err != nil {
			return nil, err
		}
		if err := c.Put(fmt.Sprintf("%s.b%d", name, me/block), joinValues(mine)); err != nil {
			return nil, err
		}
	}
	if err := c.Fence(); err != nil {
		return nil, err
	}
	for first := 0; first < n; first += block {
		joined, err := c.Get(first, fmt.Sprintf("%s.b%d", name, first/block))
		if err != nil {
			return nil, err
		}
		if err := splitValues(joined, first, all[first:min(first+block, n)]); err != nil {
			return nil, failure("the launcher returned invalid values for ranks from %d on: %v", first,
				err)
		}
	}
	return all, nil
}

// getEach fills the slice `into` with the values of the ranks from `first` on.
func getEach(c Client, name string, first int, into []string) (err error) {
	for i := range into {
		if into[i], err = c.Get(first+i, fmt.Sprintf("%s.%d", name, first+i)); err != nil {
			return err
		}
	}
	return nil
}

// joinValues concatenates the values, each preceded by its length.
func joinValues(values []string) string {
	var b []byte
	for _, v := range values {
		b = binary.AppendUvarint(b, uint64(len(v)))
		b = append(b, v...)
	}
	return string(b)
}

func splitValues(joined string, first int, into []string) error {
	rest := []byte(joined)
	for i := range into {
		length, used := binary.Uvarint(rest)
		if used <= 0 || length > uint64(len(rest)-used) {
			return fmt.Errorf("the value of rank %d is incomplete", first+i)
		}
		rest = rest[used:]
		into[i] = string(rest[:length])
		rest = rest[length:]
	}
	if len(rest) > 0 {
		return fmt.Errorf("%d unexpected bytes follow the last value", len(rest))
	}
	return nil
}
