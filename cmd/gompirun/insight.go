package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"gompirma/core/insight"
)

// listener is what one switch makes of the calls of the ranks.
type listener interface {
	// mode is what it needs to be recorded.
	mode() insight.Mode
	// begin is called when the memory is there, and no rank has been started.
	begin(j *job) error
	// record is called with the words of each record, from one goroutine. They are valid until record returns.
	record(rank int, words []uint64) error
	// end is called when no rank runs any longer and all records have been read.
	end() error
}

// looker is a listener that wants to know when all records until a time have come.
type looker interface{ looked(until time.Duration) }

// observation is all that is recorded in a job: libgompirma-insight.so is preloaded into the ranks for it.
type observation struct {
	memory    *insight.Memory
	ring      int // of each rank, in bytes; 0: the usual one
	library   string
	listeners []listener
	stop      chan struct{}
	done      chan error
}

// envRing is the size of each rank's ring in bytes.
const envRing = "GOMPIRMA_INSIGHT_RING"

// observe makes the memory and finds the library; nil: nobody listens.
func observe(listeners []listener, ranks int) (*observation, error) {
	if len(listeners) == 0 {
		return nil, nil
	}
	// A trace tells what the others have found.
	listeners = slices.Clone(listeners)
	slices.SortStableFunc(listeners, func(a, b listener) int {
		_, before := b.(*traceListener)
		_, behind := a.(*traceListener)
		switch {
		case before && !behind:
			return -1
		case behind && !before:
			return 1
		}
		return 0
	})
	o := &observation{listeners: listeners, stop: make(chan struct{}), done: make(chan error, 1)}
	var err error
	if o.library, err = insightLibrary(); err != nil {
		return nil, err
	}
	ring := 0
	if text := os.Getenv(envRing); text != "" {
		if ring, err = strconv.Atoi(text); err != nil || ring < 1 || ring > 1<<40 {
			return nil, fmt.Errorf("%s=%s: not a number of bytes", envRing, text)
		}
	}
	mode := insight.Mode(0)
	for _, l := range listeners {
		mode |= l.mode()
	}
	if mode&insight.Records != 0 {
		// What is made of records lives short or long, and little of it: the ranks wait while it is looked for.
		debug.SetGCPercent(400)
	}
	if mode&insight.Records == 0 {
		ring = insight.MinRing
	}
	o.ring = ring
	o.memory, err = insight.Create(ranks, mode, ring)
	return o, err
}

// insightLibrary returns the path of the library in gompirun's prefix.
func insightLibrary() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	path := filepath.Join(filepath.Dir(filepath.Dir(self)), "lib/libgompirma-insight.so")
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%s: %w", path, plain(err))
	}
	if strings.ContainsAny(path, " :$") {
		return "", fmt.Errorf("%s: the loader takes no such name for a library to preload", path)
	}
	return path, nil
}

// owns reports whether a file is that of the memory, which all ranks get.
func (o *observation) owns(f *os.File) bool { return o != nil && f == o.memory.File() }

// start has the listeners called with what the ranks record.
func (o *observation) start(j *job) error {
	for _, l := range o.listeners {
		if err := l.begin(j); err != nil {
			return err
		}
	}
	if o.memory.Mode()&insight.Stats != 0 {
		go o.memory.Tick(o.stop)
	}
	go func() {
		o.done <- o.memory.Follow(o.stop, func(rank int, words []uint64) (err error) {
			for _, l := range o.listeners {
				if _, is := l.(*checkListener); is || !insight.OfProgram(words) {
					err = cmp.Or(err, l.record(rank, words))
				}
			}
			return err
		}, func(until time.Duration) {
			for _, l := range o.listeners {
				if l, is := l.(looker); is {
					l.looked(until)
				}
			}
		})
	}()
	return nil
}

// abandoner is a listener that may have much left to look at when the job is over.
type abandoner interface{ abandon() }

// endPatience is how long a job that was ended from outside is looked at when it is over.
const endPatience = 10 * time.Second

// finish is end, and gives up what is left to look at when somebody wants gompirun to end, who may have said so before.
func (o *observation) finish(hurry bool) error {
	abandon := func() {
		for _, l := range o.listeners {
			if a, is := l.(abandoner); is {
				a.abandon()
			}
		}
	}
	signals := make(chan os.Signal, 1)
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	defer signal.Stop(signals)
	if hurry {
		defer time.AfterFunc(endPatience, abandon).Stop()
	}
	done := make(chan error, 1)
	go func() { done <- o.end() }()
	for {
		select {
		case err := <-done:
			return err
		case <-signals:
			abandon()
		}
	}
}

// end reads what is left, and has each listener come to its end.
func (o *observation) end() error {
	close(o.stop)
	errs := []error{<-o.done}
	for _, l := range o.listeners {
		errs = append(errs, l.end())
	}
	return errors.Join(errs...)
}

// fdInsight is the descriptor of the shared memory in every process.
const fdInsight = fdControl + 1

// preloaded adds to the environment of a rank what has it observed. What the user preloads stands behind that, so that
// another tool is called as well. A program with the address sanitizer would refuse to start with a library in front
// of that, which does no harm as this one allocates nothing by its functions.
func (o *observation) preloaded(env []string) []string { return preloaded(env, o.library, fdInsight) }

// preloaded is that of a library, with the memory as a descriptor.
func preloaded(env []string, library string, fd int) []string {
	const preload = "LD_PRELOAD"
	value := library
	if users := variable(env, preload); users != "" {
		value += ":" + users
	}
	const sanitizer, order = "ASAN_OPTIONS", "verify_asan_link_order"
	options := variable(env, sanitizer)
	if !strings.Contains(options, order) {
		options = strings.TrimPrefix(options+":"+order+"=0", ":")
	}
	env = slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		return strings.HasPrefix(v, preload+"=") || strings.HasPrefix(v, sanitizer+"=")
	})
	return append(env, preload+"="+value, sanitizer+"="+options, insight.EnvFd+"="+strconv.Itoa(fd))
}
