package boot

import (
	"fmt"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"gompirma/core/boot/pmi1"
)

// singleton is a job of one process that no launcher started.
type singleton struct {
	id string

	mu     sync.Mutex
	values map[string]string
}

func newSingleton() *singleton {
	var number [16]byte
	unix.Getrandom(number[:], 0) // crypto/rand would cost each process 32 MiB of address space
	return &singleton{id: fmt.Sprintf("single-%x", number), values: map[string]string{}}
}

func (*singleton) Rank() int                { return 0 }
func (*singleton) Size() int                { return 1 }
func (*singleton) AppNum() (int, bool)      { return 0, false }
func (*singleton) UniverseSize() int        { return 1 }
func (s *singleton) JobID() string          { return s.id }
func (*singleton) Fence() error             { return nil }
func (*singleton) Finalize() error          { return nil }
func (*singleton) Abort(int, int) error     { return nil }
func (*singleton) Judges() bool             { return true }
func (*singleton) Control() (Control, bool) { return Control{}, false }
func (*singleton) Limit(time.Duration)      {}
func (*singleton) Watched(pmi1.Watch)       {}
func (*singleton) HangUp() <-chan struct{}  { return nil }

func (s *singleton) Put(key, value string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.values[key]; ok {
		return failure("key %q is in use already", key)
	}
	s.values[key] = value
	return nil
}

func (s *singleton) Get(_ int, key string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	value, ok := s.values[key]
	if !ok {
		return "", failure("nobody has published key %q", key)
	}
	return value, nil
}
