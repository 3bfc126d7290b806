package boot

import "strconv"

// Nth returns a client for the n-th time, from 0, that the processes of a job make use of their launcher: keys may be
// the same again. What the launcher has made for the node has been used.
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
