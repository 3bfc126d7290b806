package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"gompirma/core/boot/pmi1"
	"gompirma/core/random"
)

// Grace periods at the end of a job.
const (
	graceTerm   = 500 * time.Millisecond // from SIGTERM to SIGKILL
	graceLinger = 300 * time.Millisecond // for processes that ranks left running to end by themselves
	graceKilled = 200 * time.Millisecond // for the kernel to remove processes that gompirun has killed
	graceOutput = time.Second            // after a signal, for the reader of gompirun's output to read all output
	graceEnding = 10 * time.Second       // for exiting ranks, until the kernel reports their exit status
	graceLost   = time.Second            // for the end of a rank that other ranks report as failed
)

// job holds the state of the job. After newJob has returned, only the goroutine of the method `run` accesses the
// fields. The exceptions are atomic fields, and fields whose comment names another owner or lock.
type job struct {
	opts        *options
	id          string
	programs    []program // one for each part of the command line
	ranks       []rank
	nodes       []node   // ordered by their ranks
	worlds      []*world // the job of the command line, then the jobs that ranks have started
	names       *pmi1.Names
	out         *output
	mail        *mailbox
	observation *observation   // nil if there are no listeners
	stopping    atomic.Bool    // no further process may be started
	forking     sync.Mutex     // held from before the start of a rank until its event is in the mailbox
	ending      syscall.Signal // the signal that ends the ranks when stopping is set
	// Paths of --outfile-pattern and --errfile-pattern that have been opened, so that a second rank with the same
	// path appends and does not truncate. Only the goroutine in launch accesses the map.
	opened map[string]bool

	rankOf         map[int]int // rank by process id, for ranks that gompirun has started
	runningCount   int
	state          state
	failure        *failure
	ends           []end     // ends that classifyEnds has not handled yet
	heldSince      time.Time // time since which classifyEnds leaves the entries; zero if it does not
	recheckPending bool      // a recheckEnds tick is scheduled

	freeRanks  []span         // numbers of ranks that have ended, for ranks that are started later
	heldSpawns []spawnRequest // requests that wait until the first ranks have been started
	spawner    chan func()    // functions for the thread that starts further ranks; nil if there is none yet

	served *served // not nil if gompirun serves a process that it has not started

	hang      hang
	startTime time.Time

	sites callSites

	outputDone, childless, leavesRunning bool // leavesRunning: remaining processes are left running
	forced                               bool // gompirun ends without waiting for processes and output
	hurry                                bool // a signal or the time limit ends the job
}

// rank is one process. Its index in job.ranks is its number among all processes that gompirun has started.
type rank struct {
	part  int
	world *world
	pid   int // 0 if the rank has not been started
	ended bool
}

// state is the phase of the job.
type state int

const (
	starting state = iota // ranks are being started; started ranks may run, and end
	running               // all ranks have been started
	draining              // all ranks have ended; their output is forwarded, and remaining processes are ended
	finished
)

// newJob returns a new job. Before, it makes all checks that are possible before the first process is started.
func newJob(opts *options) (*job, error) {
	name, err := random.Text()
	if err != nil {
		return nil, err
	}
	j := &job{opts: opts, mail: newMailbox(), rankOf: map[int]int{}, names: pmi1.NewNames(),
		id: fmt.Sprintf("gompirun_%d_%s", os.Getpid(), name)}
	environ := os.Environ()
	for i, p := range opts.parts {
		prog, err := prepare(p, environ)
		if err != nil {
			return nil, err
		}
		j.programs = append(j.programs, prog)
		for range p.n {
			j.ranks = append(j.ranks, rank{part: i})
		}
	}
	if err := checkPrograms(j.programs, opts); err != nil {
		return nil, err
	}
	if opts.outputDir != "" {
		if err := os.MkdirAll(opts.outputDir, 0o777); err != nil {
			return nil, fmt.Errorf("--output-dir %s: %w", opts.outputDir, withoutPath(err))
		}
	}
	if err := checkDescriptors(len(j.ranks), opts.nodes); err != nil {
		return nil, err
	}
	var bound []unix.CPUSet
	if opts.bind != "none" {
		bound = bindings(len(j.ranks), opts.bind, max(opts.bindTo, 1), "/sys/devices/system/cpu")
		if bound == nil && opts.bind != "" && !opts.quiet {
			fmt.Fprintf(os.Stderr, "gompirun: --bind-to %s: this machine has too few usable processors "+
				"for %d %s; the ranks are not bound\n", opts.bind, len(j.ranks),
				plural(len(j.ranks), "rank"))
		}
	}
	sizes := blocks(len(j.ranks), opts.nodes, opts.perNode)
	if len(sizes) > 1 {
		interfaces, _ := net.Interfaces() // if the interfaces are unknown, the job is started nevertheless
		name, err := loopback(interfaces)
		if err != nil {
			return nil, err
		}
		for i := range j.programs {
			j.programs[i].env = onInterface(j.programs[i].env, name)
		}
	}
	if j.nodes, err = makeNodes(sizes); err != nil {
		return nil, err
	}
	if j.observation, err = observe(opts.listeners, len(j.ranks)); err != nil {
		return nil, err
	}
	if j.observation != nil && len(j.nodes) == 1 {
		for i := range j.ranks {
			j.observation.memory.SetPart(i, i)
		}
	}
	j.addWorld(0, len(j.ranks)).bindings = bound
	j.out = newOutput(j.mail, os.Stdout, os.Stderr)
	j.out.tag, j.out.single, j.out.mayPrompt = opts.tag, len(j.ranks) == 1, inputMayPrompt()
	return j, nil
}

// The ticks of timers.
const (
	timeUp        tick = iota // the limit of --timeout has passed
	kill                      // kill ranks that did not end after SIGTERM
	endLinger                 // end the processes that ranks left running
	killLeftovers             // kill the processes that endLinger did not end
	abandon                   // stop waiting for the processes that killLeftovers did not end
	giveUp                    // stop waiting for the reader of gompirun's output
	recheckEnds               // call classifyEnds again
	checkHang                 // check whether the job hangs
	showProgress              // print the line of --progress
)

func (j *job) after(d time.Duration, t tick) { time.AfterFunc(d, func() { j.mail.send(t) }) }

// run starts the job and returns gompirun's exit status when the job has ended.
func (j *job) run() int {
	j.startTime = time.Now()
	j.watchSignals()
	if j.opts.timeout > 0 {
		j.after(j.opts.timeout, timeUp)
	}
	if j.observation != nil {
		if err := j.observation.start(j); err != nil {
			return refuse(err)
		}
	}
	if j.opts.deadlock != deadlockOff {
		j.after(j.pollInterval(), checkHang)
	}
	if j.opts.progress && isTerminal(unix.Stderr) {
		j.after(progressInterval, showProgress)
	}
	if j.served != nil {
		go j.served.reapChildren(j)
		go j.out.wait()
	} else {
		go j.launch()
	}
	for j.state != finished {
		for _, e := range j.mail.receive() {
			j.handle(e)
			j.advance()
		}
	}
	if j.observation != nil {
		if text := j.unrecordedText(); text != "" && !j.opts.quiet {
			j.out.stderr.printText("gompirun: "+text+"\n", !j.forced)
		}
		if err := j.observation.finish(j.hurry); err != nil && j.failure == nil {
			j.failure = &failure{statusFailed, []string{err.Error()}}
		}
	}
	if j.opts.progress && !j.opts.quiet {
		j.out.stderr.printText("gompirun: "+j.progressLine()+"\n", !j.forced)
	}
	if j.failure == nil {
		j.failure = j.unsurvived()
	}
	if j.failure == nil {
		return 0
	}
	if len(j.failure.lines) > 0 && !j.opts.quiet {
		j.out.stderr.printText("gompirun: "+strings.Join(j.failure.lines, "\ngompirun: ")+"\n", !j.forced)
	}
	return j.failure.status
}

func (j *job) handle(event any) {
	switch e := event.(type) {
	case started:
		j.ranks[e.rank].pid = e.pid
		j.rankOf[e.pid] = e.rank
		j.runningCount++
		if j.stopping.Load() {
			j.signalRank(&j.ranks[e.rank], j.ending)
			j.after(graceTerm, kill)
		}
	case startFailed:
		j.fail(&failure{statusUsage, []string{e.err.Error()}})
	case allStarted:
		j.state = running
		j.spawnHeld()
		go j.out.wait()
	case ended:
		for _, c := range e.children {
			if rank, ok := j.rankOf[c.pid]; ok {
				delete(j.rankOf, c.pid) // another process may get the id
				j.noteEnd(rank, c.status)
			}
		}
		j.classifyEnds()
	case stateChange:
		j.rankChanged(e.rank, e.event)
	case killWorld:
		for i := range e.w.size {
			j.signalRank(&j.ranks[e.w.first+i], syscall.SIGKILL)
		}
	case clientEnded:
		j.clientEnded()
	case spawnRequest:
		j.spawn(e)
	case spawnDone:
		j.spawnDone(e)
	case interrupted:
		j.interrupted(e.signal)
	case cannotComplete:
		j.fail(&failure{statusConflict, []string{e.detail}})
	case outputLost:
		v := &failure{status: statusSignal + int(syscall.SIGPIPE)}
		if !errors.Is(e.err, syscall.EPIPE) {
			v = &failure{statusFailed, []string{fmt.Sprintf("cannot write the output: %v",
				withoutPath(e.err))}}
		}
		j.fail(v)
	case outputDone:
		j.outputDone = true
	case childless:
		j.childless = true
	case tick:
		j.tick(e)
	}
}

// fail records the job's first failure and ends the job.
func (j *job) fail(v *failure) {
	if j.failure == nil {
		j.failure = v
	}
	j.end(syscall.SIGTERM)
}

// end sends a signal to every rank, and SIGKILL after graceTerm. Later calls have no effect.
func (j *job) end(s syscall.Signal) {
	if j.stopping.Swap(true) {
		return
	}
	j.ending = s
	// Announces the end before the first rank ends. Otherwise other ranks would report that rank as failed.
	for i := range j.nodes {
		if n := &j.nodes[i]; n.memory != nil {
			n.memory.AnnounceEnd()
		}
	}
	j.signalAll(s)
	j.signalAll(syscall.SIGCONT)
	j.after(graceTerm, kill)
}

// rankEnded determines what the end of a rank means for the job.
func (j *job) rankEnded(rank int, status syscall.WaitStatus) {
	w := j.ranks[rank].world
	if w.abandoned {
		return
	}
	if w.hasFailed {
		j.markFailed(rank)
		return
	}
	if w.launcher != nil {
		j.launcherEnded(rank, status)
		return
	}
	st := j.pmiState(rank)
	v, hard := j.classifyEnd(rank, status, st)
	if w.apart && (v != nil || !st.Initialized) {
		reason := ""
		if v != nil {
			reason = v.lines[0]
		}
		j.names.Publish(pmi1.EndedName(w.parent), reason)
	}
	if v == nil {
		w.ended = append(w.ended, rank)
		j.noteEnded(rank)
		if w.number > 0 && len(w.ended) == w.size {
			j.freeWorld(w)
		}
		if w.pmi.InBarrier() {
			v, hard = j.absentFailure(rank), true
		}
	}
	if v != nil && hard && j.opts.ft && st.Initialized && !st.Aborted && !j.stopping.Load() {
		j.outlive(rank, v)
		return
	}
	if v != nil && hard && j.outlives(w) {
		j.loseWorld(w, rank, v)
		return
	}
	if v != nil && j.failure == nil {
		j.failure = v
	}
	if hard && w.number > 0 && !st.Aborted && !j.stopping.Load() {
		j.failWorld(w, rank)
	} else if hard {
		// fail must come first, because it announces the end of the job. markFailed then ends the waits of
		// other ranks for this rank. Because of the announcement, these ranks exit without an error message.
		j.fail(v)
		if st.Initialized {
			j.markFailed(rank)
		}
	}
}

// outlive lets the other ranks continue after the failure of a rank (--ft).
func (j *job) outlive(rank int, v *failure) {
	w := j.ranks[rank].world
	if w.outlived == nil {
		w.outlived = v
	}
	j.printOutlived(v, "the other ranks continue")
	j.markFailed(rank)
	w.pmi.Exclude(rank - w.first)
}

func (j *job) printOutlived(v *failure, text string) {
	if !j.opts.quiet {
		lines := "gompirun: " + strings.Join(v.lines, "\ngompirun: ")
		j.out.stderr.printText(lines+"; "+text+" (--ft)\n", !j.forced)
	}
}

// outlives returns whether the ranks of other jobs continue if a job ends by a failure or by MPI_Abort: with --ft, if a
// rank has started the job.
func (j *job) outlives(w *world) bool { return j.opts.ft && w.number > 0 && !j.stopping.Load() }

// loseWorld ends a job that a rank has started, because one of its ranks has failed or called MPI_Abort. Other jobs
// continue.
func (j *job) loseWorld(w *world, rank int, v *failure) {
	if !w.hasFailed {
		j.printOutlived(v, "the other jobs continue")
		j.failWorld(w, rank)
	}
}

// unsurvived returns the first failure of the first job if none of its ranks has ended without a failure, else nil.
func (j *job) unsurvived() *failure {
	if w := j.worlds[0]; w.outlived != nil && len(w.ended) == 0 {
		return &failure{status: w.outlived.status}
	}
	return nil
}

// absentFailure returns the failure of a job in which this rank ended without a call that other ranks made: MPI_Init,
// or MPI_Session_init if that is collective. The other ranks would wait for this rank forever.
func (j *job) absentFailure(rank int) *failure {
	return &failure{statusFailed, []string{j.name(rank) +
		" exited with status 0 without MPI_Init, but other ranks called MPI_Init"}}
}

func (j *job) rankChanged(rank int, e pmi1.Event) {
	switch e {
	case pmi1.Waiting:
		if w := j.ranks[rank].world; len(w.ended) > 0 && w.pmi.InBarrier() {
			j.fail(j.absentFailure(w.ended[0]))
		}
	case pmi1.Aborted:
		j.ends = append(j.ends, end{rank: rank, byAbort: true})
		j.classifyEnds()
	case pmi1.Failed:
		j.fail(&failure{statusFailed, []string{fmt.Sprintf("%s sent an invalid PMI-1 message: %v", j.name(rank),
			j.pmiState(rank).Err)}})
	}
}

func (j *job) interrupted(s syscall.Signal) {
	switch s {
	case syscall.SIGUSR1:
		j.reportOnSignal()
	case syscall.SIGUSR2:
		j.progressOnSignal()
	case syscall.SIGTSTP:
		j.signalAll(syscall.SIGSTOP)
		syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	case syscall.SIGCONT:
		j.signalAll(s)
	default:
		// A second SIGINT or SIGQUIT kills the ranks at once. A second SIGTERM does not, because timeout(1)
		// sends SIGTERM twice: to gompirun and to its process group.
		if j.stopping.Load() && (s == syscall.SIGINT || s == syscall.SIGQUIT) {
			j.signalAll(syscall.SIGKILL)
			j.after(graceKilled, giveUp)
		}
		if j.failure == nil {
			j.failure = &failure{statusSignal + int(s),
				[]string{fmt.Sprintf("received signal %d (%v) and ended the job", s, s)}}
		}
		j.hurry = true
		j.end(s)
		j.after(graceTerm+graceOutput, giveUp)
	}
}

func (j *job) tick(t tick) {
	switch t {
	case timeUp:
		if j.state < draining && j.failure == nil {
			j.hurry = true
			lines := append([]string{fmt.Sprintf("the job exceeded its time limit of %v "+
				"(--timeout)", j.opts.timeout)}, j.report()...)
			j.fail(&failure{statusTimedOut, lines})
		}
	case checkHang:
		j.watchHangs()
	case showProgress:
		j.watchProgress()
	case kill:
		j.signalAll(syscall.SIGKILL)
	case endLinger:
		j.endLeftovers(syscall.SIGTERM)
		j.after(graceKilled, killLeftovers)
	case killLeftovers:
		j.endLeftovers(syscall.SIGKILL)
		j.after(graceKilled, abandon)
	case abandon:
		j.leavesRunning = true
		j.out.abandon()
	case recheckEnds:
		j.recheckPending = false
		j.classifyEnds()
	case giveUp:
		j.signalAll(syscall.SIGKILL)
		j.endLeftovers(syscall.SIGKILL)
		j.forced = true
	}
}

// advance moves the job to its next state if all conditions are met.
func (j *job) advance() {
	if j.state == running && j.runningCount == 0 {
		j.state = draining
		switch {
		case j.childless:
		case j.stopping.Load():
			j.tick(killLeftovers)
		default:
			j.after(graceLinger, endLinger)
		}
	}
	if j.forced || j.state == draining && j.outputDone && (j.childless || j.leavesRunning) {
		j.state = finished
	}
}
