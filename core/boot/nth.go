package boot

import "strconv"

// Nth returns a client for use number n of the launcher, counted from 0, by the processes of a job. (Each MPI instance
// that the process creates is one use.) A use may repeat the keys of earlier uses. From the second use on, the
// launcher's control segment is not available, because the first use owns it.
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
