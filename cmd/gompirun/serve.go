package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"gompirma/core/boot"
	"gompirma/core/boot/pmi1"
	"gompirma/core/shm"
)

// A process whose launcher is not gompirun, or that has none, starts gompirun when it calls MPI_Comm_spawn. This
// gompirun knows the processes of the node as ranks that it has not started, and starts the processes that the one
// process asks for. It ends when that process, which is called the client, and all processes that it has started have
// ended.

// clientEnded is the event that the client has closed its connection.
type clientEnded struct{}

// runServe serves the process with the given id and index on the node. Its connection and its shared memory are the
// descriptors fdLauncher and fdControl. runServe returns gompirun's exit status.
func runServe(pid, indexText string) int {
	opts, err := parse([]string{"-n", "1", "/proc/" + pid + "/exe"}, os.LookupEnv)
	if err != nil {
		return refuse(err)
	}
	unix.CloseOnExec(fdLauncher)
	unix.CloseOnExec(fdControl)
	unix.SetNonblock(fdLauncher, true) // so that the poller can wait for the descriptor
	conn, control := os.NewFile(fdLauncher, "pmi"), os.NewFile(fdControl, "gompirma-control")
	memory, err := shm.Open(fdControl, -1)
	if err != nil {
		return refuse(err)
	}
	number, err := strconv.Atoi(pid)
	index, err2 := strconv.Atoi(indexText)
	if err != nil || err2 != nil || index < 0 || index >= memory.Count() {
		return refuse(fmt.Errorf("%s %s %s: not a process id and an index below %d", boot.ServeWord, pid,
			indexText, memory.Count()))
	}
	j := &job{opts: opts, mail: newMailbox(), rankOf: map[int]int{}, names: pmi1.NewNames(),
		id: boot.ServedJob(number), ranks: make([]rank, memory.Count()), runningCount: 1, state: running,
		programs: []program{{part: opts.parts[0]}},
		nodes:    []node{{size: memory.Count(), control: control, memory: memory}}}
	name, _ := os.Readlink("/proc/" + pid + "/exe")
	j.programs[0].argv = []string{name}
	w := j.addWorld(0, len(j.ranks))
	j.out = newOutput(j.mail, os.Stdout, os.Stderr)
	j.out.pumps.Add(1) // until the process ends, so that the wait for output does not end before its first request
	j.served = &served{rank: index, started: make(chan struct{}, 1), ended: make(chan struct{})}
	w.pmi.Serve(index, conn)
	go func() {
		w.pmi.Wait(index)
		j.mail.send(clientEnded{})
	}()
	return j.run()
}

// served is the state of a gompirun that serves a client.
type served struct {
	rank    int           // of the client
	started chan struct{} // receives a value when processes have been started
	ended   chan struct{} // closed when the client has ended
}

// reapChildren reaps children until the client and all children have ended.
func (s *served) reapChildren(j *job) {
	runtime.LockOSThread()
	for ended := false; ; {
		if j.reap(0) {
			continue
		}
		if ended {
			break
		}
		select {
		case <-s.started:
		case <-s.ended:
			ended = true
		}
	}
	j.mail.send(childless{})
}

// clientEnded handles the end of the client.
func (j *job) clientEnded() {
	close(j.served.ended)
	j.out.pumps.Done()
	j.noteEnd(j.served.rank, syscall.WaitStatus(0))
	j.classifyEnds()
}
