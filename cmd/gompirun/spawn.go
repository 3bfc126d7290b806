package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"syscall"
	"time"

	"gompirma/core/boot/pmi1"
	"gompirma/core/shm"
)

// Ranks start further processes with MPI_Comm_spawn. These form a job of their own (world), and end with the job of the
// command line. They run on the machine of gompirun, unless the request names other hosts (spawn_hosts.go). They use
// the memory of the ranks of the node, unless the job of the command line has several nodes.

// spawnRequest is the event that a rank asks for processes.
type spawnRequest struct {
	rank int // the rank
	what *pmi1.Spawn
	at   placement
	done chan<- spawnResult
	gone <-chan struct{} // closed when the rank has ended
}

type spawnResult struct {
	first   int
	failure *pmi1.SpawnError
}

// requestSpawn passes a request to the job's goroutine and waits for the result. Another goroutine determines where the
// processes run, because it may have to wait for the addresses of hosts. The wait ends if the rank has ended, because
// the method noteEnd of the job's goroutine then waits for the goroutine of the rank's connection.
func (j *job) requestSpawn(rank int, gone <-chan struct{}, what *pmi1.Spawn) (int, *pmi1.SpawnError) {
	done := make(chan spawnResult, 1)
	go func() {
		at, failure := place(what, j.opts)
		if failure != nil {
			done <- spawnResult{0, failure}
			return
		}
		j.mail.send(spawnRequest{rank, what, at, done, gone})
	}()
	select {
	case r := <-done:
		return r.first, r.failure
	case <-gone:
		return 0, errEnding
	}
}

var errEnding = &pmi1.SpawnError{Part: -1, Reason: "the job is ending"}

// spawnHeld answers the requests that arrived while the first ranks were being started.
func (j *job) spawnHeld() {
	held := j.heldSpawns
	j.heldSpawns = nil
	for _, r := range held {
		j.spawn(r)
	}
}

func (j *job) spawn(r spawnRequest) {
	if j.state == starting && !j.stopping.Load() {
		j.heldSpawns = append(j.heldSpawns, r)
		return
	}
	select {
	case <-r.gone:
		return
	default:
	}
	first, failure := j.spawnWorld(r)
	r.done <- spawnResult{first, failure}
}

// spawnWorld starts the processes of a request. If one of them cannot be started, it ends those that have been started.
func (j *job) spawnWorld(r spawnRequest) (int, *pmi1.SpawnError) {
	what, at := r.what, r.at
	if j.stopping.Load() || j.state != running {
		return 0, errEnding
	}
	var programs []program
	total := 0
	for i, p := range what.Parts {
		if at.launcher != nil {
			programs, total = []program{{part: part{n: 1, argv: at.launcher.args}}}, 1
			break
		}
		prog, err := prepare(part{n: p.N, env: p.Env, wdir: p.Dir, search: p.Path,
			argv: append([]string{p.Command}, p.Args...)}, os.Environ())
		if err != nil {
			return 0, &pmi1.SpawnError{Part: i, Reason: err.Error()}
		}
		programs = append(programs, prog)
		total += p.N
	}
	var first int
	err := checkDescriptors(len(j.ranks)+total, j.opts.nodes)
	switch {
	case err != nil:
	case what.Apart:
		first, err = j.newNode(total)
	default:
		first, err = j.newRanks(total)
	}
	if err != nil {
		return 0, &pmi1.SpawnError{Part: -1, Reason: err.Error(), Most: j.most(what.Apart)}
	}
	part, err := j.observeWorld(first, total, at)
	if err != nil {
		return 0, &pmi1.SpawnError{Part: -1, Reason: err.Error()}
	}
	parts := len(j.programs)
	j.programs = append(j.programs, programs...)
	number := first
	for i, p := range programs {
		for range p.n {
			j.ranks[number] = rank{part: parts + i}
			number++
		}
	}
	w := j.addWorld(first, total)
	w.starter, w.parent, w.apart, w.placement, w.part = r.rank, what.Parent, what.Apart, at, part
	if w.apart {
		w.parent = what.Port
	}
	if j.spawner == nil {
		j.spawner = make(chan func())
		go runOnThread(j.spawner)
	}
	finished := make(chan struct{})
	failedPart := -1
	j.spawner <- func() {
		defer close(finished)
		failedPart, err = j.startWorld(w)
	}
	<-finished
	if j.served != nil {
		select {
		case j.served.started <- struct{}{}:
		default:
		}
	}
	if err != nil {
		for i := range total {
			if r := &j.ranks[first+i]; r.pid != 0 {
				j.signalRank(r, syscall.SIGKILL)
			}
		}
		w.abandoned = true
		return 0, &pmi1.SpawnError{Part: failedPart - parts, Reason: err.Error()}
	}
	return first, nil
}

// most returns the maximum number of processes that can be started now. The processes share the node's memory
// unless `apart` is set.
func (j *job) most(apart bool) int {
	most := descriptorRoom(j.opts.nodes) - len(j.ranks)
	if apart {
		return min(most, shm.MaxProcesses)
	}
	room := j.nodes[0].memory.Slots - j.nodes[0].memory.Count()
	for _, s := range j.freeRanks {
		room = max(room, s.size)
	}
	return max(min(most, room), 0)
}

// newNode returns the first of n consecutive numbers for new ranks that have a memory of their own.
func (j *job) newNode(n int) (first int, err error) {
	last := &j.nodes[len(j.nodes)-1]
	first = last.first + last.size
	added := node{number: len(j.nodes), first: first, size: n, apart: true}
	if err := added.open(1); err != nil {
		return 0, err
	}
	j.nodes = append(j.nodes, added)
	for len(j.ranks) < first { // ranks that this gompirun has not started
		j.ranks = append(j.ranks, rank{world: j.worlds[0]})
	}
	j.ranks = append(j.ranks, make([]rank, n)...)
	return first, nil
}

// span is a range of numbers of ranks.
type span struct{ first, size int }

// newRanks returns the first of n consecutive numbers for new ranks. It prefers numbers of ranks that have ended.
func (j *job) newRanks(n int) (first int, err error) {
	node := &j.nodes[0]
	for i, s := range j.freeRanks {
		if s.size < n {
			continue
		}
		if s.size == n {
			j.freeRanks = slices.Delete(j.freeRanks, i, i+1)
		} else {
			j.freeRanks[i] = span{s.first + n, s.size - n}
		}
		node.memory.Reclaim(s.first, n)
		return s.first, nil
	}
	if first, err = node.memory.AddProcesses(n); err != nil {
		return 0, err
	}
	node.size = first + n
	for len(j.ranks) < first { // ranks that the gompirun of another process has started
		j.ranks = append(j.ranks, rank{world: j.worlds[0]})
	}
	j.ranks = append(j.ranks, make([]rank, n)...)
	return first, nil
}

// freeWorld releases what a job that has ended used.
func (j *job) freeWorld(w *world) {
	if j.observation != nil && w.launcher == nil {
		for i := range w.size {
			j.observation.memory.Rank(w.part + i).Ended()
		}
	}
	if !w.apart {
		j.freeRanks = append(j.freeRanks, span{w.first, w.size})
		return
	}
	j.nodeOf(w.first).close()
}

// runOnThread calls functions on one thread, which never ends: the kernel kills the ranks that the thread has started
// when it ends.
func runOnThread(functions <-chan func()) {
	runtime.LockOSThread()
	for f := range functions {
		f()
	}
}

// startWorld starts the ranks of w. If a rank cannot be started, it returns the rank's part.
func (j *job) startWorld(w *world) (failedPart int, err error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return 0, fmt.Errorf("cannot open %s: %w", os.DevNull, err)
	}
	defer null.Close()
	defer restoreAffinity(w)()
	for i := range w.size {
		r := &j.ranks[w.first+i]
		j.forking.Lock()
		r.pid, err = j.start(w.first+i, null)
		if err == nil {
			j.rankOf[r.pid] = w.first + i
			j.runningCount++
		}
		j.forking.Unlock()
		if err != nil {
			return r.part, err
		}
	}
	return 0, nil
}

// failWorld ends the other ranks of a job that a rank has started, because one of its ranks has failed. The ranks of
// other jobs continue: their calls that depend on a failed rank return an error.
func (j *job) failWorld(w *world, failed int) {
	j.markFailed(failed)
	j.endWorld(w)
}

// endWorld ends all ranks of a job, unless this has been done. Each of them counts as failed when it has ended.
func (j *job) endWorld(w *world) {
	if w.hasFailed || w.abandoned || len(w.ended) == w.size {
		return
	}
	w.hasFailed = true
	for i := range w.size {
		j.signalRank(&j.ranks[w.first+i], syscall.SIGTERM)
	}
	time.AfterFunc(graceTerm, func() { j.mail.send(killWorld{w}) })
}

// spawnDone is the event that a rank has connected to the job that it has started, or cannot connect to it.
type spawnDone struct {
	parent    string
	connected bool
}

func (j *job) spawnDone(e spawnDone) {
	for _, w := range j.worlds {
		if w.parent != e.parent || w.number == 0 {
			continue
		}
		if w.connected = e.connected; !w.connected {
			j.endWorld(w)
		}
	}
}

// endUnconnected ends the jobs that a failed rank has started and not connected to.
func (j *job) endUnconnected(failed int) {
	for _, w := range j.worlds {
		if w.number > 0 && w.starter == failed && !w.connected {
			j.endWorld(w)
		}
	}
}

// killWorld is the event that the ranks of a failed job must have ended.
type killWorld struct{ w *world }
