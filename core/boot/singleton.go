package boot

import (
	"sync"
	"time"

	"gompirma/core/boot/pmi1"
)

// singleton is the Client of a job of one process without a launcher.
type singleton struct {
	mu       sync.Mutex
	values   map[string]string
	launcher *pmi1.Client // the gompirun that this process has started; nil if there is none
}

func newSingleton() *singleton { return &singleton{values: map[string]string{}} }

func (*singleton) Rank() int                     { return 0 }
func (*singleton) Size() int                     { return 1 }
func (*singleton) AppNum() (int, bool)           { return 0, false }
func (*singleton) UniverseSize() int             { return 1 }
func (*singleton) Fence() error                  { return nil }
func (*singleton) Control() (Control, bool)      { return Control{}, false }
func (*singleton) Limit(time.Duration)           {}
func (*singleton) SetWatch(pmi1.Watch)           {}
func (*singleton) LauncherLost() <-chan struct{} { return nil }

// Finalize notifies the gompirun that this process has started, if there is one.
func (s *singleton) Finalize() error {
	if l := s.spawner(); l != nil {
		return otherError(l.Finalize())
	}
	return nil
}

// Abort ends the processes that this process has started.
func (s *singleton) Abort(status, lost int) error {
	if l := s.spawner(); l != nil {
		return otherError(l.Abort(status, lost))
	}
	return nil
}

func (s *singleton) spawner() *pmi1.Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.launcher
}

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
