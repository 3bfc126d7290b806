package boot

import (
	"sync"
	"time"

	"gompirma/core/boot/pmi1"
)

// singleton is the Client of a job of one process without a launcher.
type singleton struct {
	mu     sync.Mutex
	values map[string]string
}

func newSingleton() *singleton { return &singleton{values: map[string]string{}} }

func (*singleton) Rank() int                     { return 0 }
func (*singleton) Size() int                     { return 1 }
func (*singleton) AppNum() (int, bool)           { return 0, false }
func (*singleton) UniverseSize() int             { return 1 }
func (*singleton) Fence() error                  { return nil }
func (*singleton) Finalize() error               { return nil }
func (*singleton) Abort(int, int) error          { return nil }
func (*singleton) Control() (Control, bool)      { return Control{}, false }
func (*singleton) Limit(time.Duration)           {}
func (*singleton) SetWatch(pmi1.Watch)           {}
func (*singleton) LauncherLost() <-chan struct{} { return nil }

func (s *singleton) Put(key, value string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.values[key]; ok {
		return failure("key %q is already in use", key)
	}
	s.values[key] = value
	return nil
}

func (s *singleton) Get(_ int, key string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	value, ok := s.values[key]
	if !ok {
		return "", failure("no process has published key %q", key)
	}
	return value, nil
}
