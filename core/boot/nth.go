package boot

import "strconv"

// Nth returns a client for the n-th MPI instance that the process creates, counted from 0. Each instance has its own
// set of keys, so an instance may publish values under the keys of earlier instances. Only the first instance can use
// the launcher's control segment.
func Nth(c Client, n int) Client {
	if n == 0 {
		return c
	}
	return nth{c, strconv.Itoa(n) + "."}
}

type nth struct {
	Client
	prefix string
}

func (c nth) Put(key, value string) error              { return c.Client.Put(c.prefix+key, value) }
func (c nth) Get(rank int, key string) (string, error) { return c.Client.Get(rank, c.prefix+key) }
func (c nth) Control() (Control, bool)                 { return Control{}, false }
