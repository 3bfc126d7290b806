// Package info owns info objects (MPI-5.0 10): ordered pairs of key and value. It knows nothing of what keys mean;
// whoever honours one reads it with Get. MPI_INFO_ENV is here too, filled by whoever knows how the process was started.
package info

import (
	"slices"
	"sync"
	"sync/atomic"

	"gompirma/core/abi"
	"gompirma/core/handle"
	"gompirma/core/mpierr"
)

// Info is an info object. Safe for concurrent use.
type Info struct {
	h       uintptr
	mu      sync.Mutex
	entries []Pair

	Told bool // belongs to whoever tells C of the object
}

// Pair is a key with its value.
type Pair struct{ Key, Value string }

var table = handle.NewTable[Info](handle.Info)

// env is MPI_INFO_ENV.
var env atomic.Pointer[Info]

// SetEnv says what MPI_INFO_ENV holds.
func SetEnv(pairs []Pair) {
	env.Store(&Info{h: abi.MPI_INFO_ENV, entries: slices.Clone(pairs)})
}

// New makes an info object with a handle. MPI_ERR_NO_MEM: there are too many.
func New(pairs ...Pair) (*Info, error) {
	i := &Info{entries: slices.Clone(pairs)}
	h, ok := table.Add(i)
	if !ok {
		return nil, mpierr.New(abi.MPI_ERR_NO_MEM, "%d info objects are in use, no more are possible",
			table.Most())
	}
	i.h = h
	return i, nil
}

// Get returns the object with handle h. MPI_ERR_INFO: there is none; MPI_INFO_NULL is none.
func Get(h uintptr) (*Info, error) {
	if h == abi.MPI_INFO_ENV {
		if e := env.Load(); e != nil {
			return e, nil
		}
		return &Info{h: h}, nil
	}
	if i := table.Get(h); i != nil {
		return i, nil
	}
	if h == abi.MPI_INFO_NULL {
		return nil, mpierr.New(abi.MPI_ERR_INFO, "MPI_INFO_NULL is not an info object")
	}
	return nil, mpierr.New(abi.MPI_ERR_INFO, "%#x is not an info object, or one that was freed", h)
}

// Lookup returns the look-up of keys for a call that takes an info argument: nil for MPI_INFO_NULL. What the
// application changes in the object later does not change the result. MPI_ERR_INFO: there is no such object.
func Lookup(h uintptr) (func(key string) (string, bool), error) {
	if h == abi.MPI_INFO_NULL {
		return nil, nil
	}
	i, err := Get(h)
	if err != nil {
		return nil, err
	}
	pairs := i.Pairs()
	return func(key string) (string, bool) {
		for _, p := range pairs {
			if p.Key == key {
				return p.Value, true
			}
		}
		return "", false
	}, nil
}

// Handle returns the handle; it stays the same number when the object is freed.
func (i *Info) Handle() uintptr { return i.h }

// Free ends the life of the object. MPI_ERR_INFO: it is MPI_INFO_ENV, or freed.
func (i *Info) Free() error {
	if err := i.writable(); err != nil {
		return err
	}
	if table.Remove(i.h) != i {
		return mpierr.New(abi.MPI_ERR_INFO, "info handle %#x was freed or never made", i.h)
	}
	return nil
}

// Pairs returns all keys and values in the order in which the keys were set first.
func (i *Info) Pairs() []Pair {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.entries)
}

// Set gives a key a value. MPI_ERR_INFO_KEY, MPI_ERR_INFO_VALUE: it is empty (the key), or longer than MPI_MAX_INFO_KEY
// or MPI_MAX_INFO_VAL allow.
func (i *Info) Set(key, value string) error {
	if err := i.writable(); err != nil {
		return err
	}
	if err := checkKey(key); err != nil {
		return err
	}
	if len(value) >= abi.MPI_MAX_INFO_VAL {
		return mpierr.New(abi.MPI_ERR_INFO_VALUE,
			"the value of info key %s has %d characters, at most %d are possible", key, len(value),
			abi.MPI_MAX_INFO_VAL-1)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if k := i.find(key); k >= 0 {
		i.entries[k].Value = value
		return nil
	}
	i.entries = append(i.entries, Pair{key, value})
	return nil
}

// Delete removes a key. MPI_ERR_INFO_NOKEY: it is not there.
func (i *Info) Delete(key string) error {
	if err := i.writable(); err != nil {
		return err
	}
	if err := checkKey(key); err != nil {
		return err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	k := i.find(key)
	if k < 0 {
		return mpierr.New(abi.MPI_ERR_INFO_NOKEY, "info key %s is not there", key)
	}
	i.entries = slices.Delete(i.entries, k, k+1)
	return nil
}

// writable returns an error for MPI_INFO_ENV.
func (i *Info) writable() error {
	if i.h == abi.MPI_INFO_ENV {
		return mpierr.New(abi.MPI_ERR_INFO, "MPI_INFO_ENV can only be read")
	}
	return nil
}

// find returns the place of a key, -1 if it is not there. mu is held.
func (i *Info) find(key string) int {
	return slices.IndexFunc(i.entries, func(p Pair) bool { return p.Key == key })
}

func checkKey(key string) error {
	switch {
	case key == "":
		return mpierr.New(abi.MPI_ERR_INFO_KEY, "the info key is empty")
	case len(key) >= abi.MPI_MAX_INFO_KEY:
		return mpierr.New(abi.MPI_ERR_INFO_KEY, "the info key has %d characters, at most %d are possible",
			len(key), abi.MPI_MAX_INFO_KEY-1)
	}
	return nil
}
