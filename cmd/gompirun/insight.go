package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"gompirma/core/insight"
)

// listener implements an option of gompirun that processes the recorded calls of the ranks.
type listener interface {
	// option returns the option of gompirun.
	option() string
	// mode returns which data the ranks must record for the listener.
	mode() insight.Mode
	// begin is called after the shared memory for records has been created and before any rank is started.
	begin(j *job) error
	// added is called when ranks have started a job, from the goroutine that calls record and before the first
	// record of the job.
	added(s *startedJob)
	// record is called with the 8-byte words of each record, always from one goroutine. A rank is the index of its
	// part of the memory: the rank in the job of the command line, followed by the ranks of the started jobs. The
	// words are valid until record returns.
	record(rank int, words []uint64) error
	// end is called when no rank runs any longer and all records have been read.
	end() error
}

// advanceListener is a listener whose method `advanced` is called when all records up to the time `until` have arrived.
type advanceListener interface{ advanced(until time.Duration) }

// observation is the recording of a job: libgompirma-insight.so is preloaded into the ranks for it.
type observation struct {
	memory    *insight.Memory
	ring      int // size of each rank's ring in bytes; 0 selects the default
	library   string
	listeners []listener
	stop      chan struct{}
	done      chan error

	mu    sync.Mutex
	jobs  insight.Jobs // guarded by mu
	added []startedJob // jobs that the listeners do not know yet; guarded by mu
}

// startedJob is a job that a rank has started.
type startedJob struct {
	part, size int // index of the part of its first rank, and number of ranks
	node       int // number of its node
}

// envRing names the environment variable with the size of each rank's ring in bytes.
const envRing = "GOMPIRMA_INSIGHT_RING"

// observe finds the library to preload into the ranks and creates the memory for their records. It returns nil if there
// are no listeners.
func observe(listeners []listener, ranks int) (*observation, error) {
	if len(listeners) == 0 {
		return nil, nil
	}
	// The trace is the last listener, since the trace file includes the findings of --check.
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
	o := &observation{listeners: listeners, jobs: insight.Jobs{0}, stop: make(chan struct{}),
		done: make(chan error, 1)}
	var err error
	if o.library, err = insightLibrary(); err != nil {
		return nil, err
	}
	ring := 0
	if text := os.Getenv(envRing); text != "" {
		if ring, err = strconv.Atoi(text); err != nil || ring < 1 || ring > 1<<40 {
			return nil, fmt.Errorf("%s=%s: the value must be a number of bytes from 1 to 2^40", envRing,
				text)
		}
	}
	mode := insight.Mode(0)
	for _, l := range listeners {
		mode |= l.mode()
	}
	if mode&insight.Records != 0 {
		// The objects made from records live either very briefly or very long, and few are live at a time, so a
		// larger heap costs little memory. Ranks with a full ring wait during a garbage collection, so
		// collections are made rarer.
		debug.SetGCPercent(400)
	}
	if mode&insight.Records == 0 {
		ring = insight.MinRing
	}
	o.ring = ring
	o.memory, err = insight.Create(ranks, mode, ring)
	return o, err
}

// observeWorld prepares the recording of a job of n ranks, whose first rank has the number `first`. It returns the part
// of the first rank.
func (j *job) observeWorld(first, n int, at placement) (part int, err error) {
	o := j.observation
	if o == nil {
		return 0, nil
	}
	if at.launcher != nil {
		j.printLines([]string{fmt.Sprintf("%s: job %d runs on other hosts and is not observed", o.options(),
			len(j.worlds))})
		n = 0
	}
	if part, err = o.memory.Add(n); err != nil {
		return 0, err
	}
	node := j.nodeOf(first)
	if !node.apart && len(j.nodes) == 1 {
		for i := range n {
			o.memory.SetPart(first+i, part+i)
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.jobs = append(slices.Clone(o.jobs), part)
	o.added = append(o.added, startedJob{part, n, node.number})
	return part, nil
}

// options returns the options for which calls are recorded, as text.
func (o *observation) options() string {
	var all []string
	for _, l := range o.listeners {
		all = append(all, l.option())
	}
	return strings.Join(all, ", ")
}

// known returns the jobs whose ranks are recorded.
func (o *observation) known() insight.Jobs {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.jobs
}

// announce calls the listeners' method `added` for each new job whose first part is at most `part`.
func (o *observation) announce(part int) {
	for {
		o.mu.Lock()
		if len(o.added) == 0 || o.added[0].part > part {
			o.mu.Unlock()
			return
		}
		s := o.added[0]
		o.added = o.added[1:]
		o.mu.Unlock()
		for _, l := range o.listeners {
			l.added(&s)
		}
	}
}

// insightLibrary returns the path of the library in gompirun's installation prefix.
func insightLibrary() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	path := filepath.Join(filepath.Dir(filepath.Dir(self)), "lib/libgompirma-insight.so")
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%s: %w", path, withoutPath(err))
	}
	if strings.ContainsAny(path, " :$") {
		return "", fmt.Errorf("%s: cannot be preloaded, because its path has a space, a colon or a dollar "+
			"sign", path)
	}
	return path, nil
}

// owns reports whether f is the file of the shared memory for records, which all ranks inherit.
func (o *observation) owns(f *os.File) bool { return o != nil && f == o.memory.File() }

// start starts the goroutine that calls the listeners with the ranks' records.
func (o *observation) start(j *job) error {
	for _, l := range o.listeners {
		if err := l.begin(j); err != nil {
			return err
		}
	}
	if o.memory.Mode()&insight.Stats != 0 {
		go o.memory.UpdateClock(o.stop)
	}
	first := o.memory.Ranks() // ranks of the job of the command line, which is not announced
	go func() {
		o.done <- o.memory.Follow(o.stop, func(rank int, words []uint64) (err error) {
			if rank >= first {
				o.announce(rank)
			}
			for _, l := range o.listeners {
				if _, is := l.(*checkListener); is || !insight.IsProgramRecord(words) {
					err = cmp.Or(err, l.record(rank, words))
				}
			}
			return err
		}, func(until time.Duration) {
			for _, l := range o.listeners {
				if l, is := l.(advanceListener); is {
					l.advanced(until)
				}
			}
		})
	}()
	return nil
}

// abandoner is a listener that may have many unprocessed records at the end of the job. abandon drops them.
type abandoner interface{ abandon() }

// drainTimeout limits how long gompirun processes remaining records after a signal or the time limit has ended the job.
const drainTimeout = 10 * time.Second

// finish processes the remaining records and then ends the listeners. If gompirun receives a signal, the listeners drop
// the records that are not yet processed. If `hurry` is set, they do so after drainTimeout too.
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
		defer time.AfterFunc(drainTimeout, abandon).Stop()
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

// end stops the goroutine that reads the rings, waits until it has read the remaining records, and ends each listener.
func (o *observation) end() error {
	close(o.stop)
	errs := []error{<-o.done}
	o.announce(math.MaxInt)
	for _, l := range o.listeners {
		errs = append(errs, l.end())
	}
	return errors.Join(errs...)
}

// unrecordedText names the ranks that have called MPI_Init without the library that records calls, and says why. It
// returns "" if there are none.
func (j *job) unrecordedText() string {
	var names []string
	for _, w := range j.worlds {
		if w.launcher != nil { // on other hosts, where nothing is recorded
			continue
		}
		var numbers []int
		for i := range w.size {
			if w.pmi.State(i).Initialized && j.observation.memory.Rank(w.part+i).Pid() == 0 {
				numbers = append(numbers, i)
			}
		}
		switch {
		case len(numbers) > 0 && w.number > 0:
			names = append(names, fmt.Sprintf("job %d %s", w.number, ranksOf(numbers)))
		case len(numbers) > 0:
			names = append(names, ranksOf(numbers))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "no MPI call of " + strings.Join(names, ", ") + " was recorded, because the program was started " +
		"without " + j.observation.library + " in LD_PRELOAD, or with closed file descriptors. To preload " +
		"another library, use `gompirun -x LD_PRELOAD=LIBRARY`, or in a script that gompirun starts " +
		"LD_PRELOAD=LIBRARY:$LD_PRELOAD"
}

// fdInsight is the descriptor of the shared memory in every process.
const fdInsight = fdControl + 1

// preloaded returns a rank's environment with the variables for the observation. In LD_PRELOAD, the user's libraries
// follow o.library, so that another tool among them is called too. A program with the address sanitizer refuses to
// start if a library precedes the sanitizer's library. ASAN_OPTIONS disables this check, because o.library does not
// allocate memory with the sanitizer's functions.
func (o *observation) preloaded(env []string) []string { return preloaded(env, o.library, fdInsight) }

// preloaded returns env with a library in LD_PRELOAD and with fd, the descriptor of the shared memory for records.
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
