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

// A process without a launcher starts gompirun when it calls MPI_Comm_spawn. This gompirun has that process as its rank
// 0, which it has not started, and starts the processes that the process asks for. It ends when all of them have ended.

// rootEnded is the event that the process without a launcher has closed its connection.
type rootEnded struct{}

// runSingleton serves the process with the given id, whose connection and shared memory are descriptors fdLauncher and
// fdControl. It returns gompirun's exit status.
func runSingleton(pid string) int {
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
	if err != nil {
		return refuse(fmt.Errorf("%s %s: not a process id", boot.SingletonWord, pid))
	}
	j := &job{opts: opts, mail: newMailbox(), rankOf: map[int]int{}, names: pmi1.NewNames(),
		id: boot.SingletonJob(number), ranks: make([]rank, 1), runningCount: 1, state: running,
		programs: []program{{part: opts.parts[0]}}, nodes: []node{{size: 1, control: control, memory: memory}}}
	name, _ := os.Readlink("/proc/" + pid + "/exe")
	j.programs[0].argv = []string{name}
	w := j.addWorld(0, 1)
	j.out = newOutput(j.mail, os.Stdout, os.Stderr)
	j.out.pumps.Add(1) // until the process ends, so that the wait for output does not end before its first request
	j.singleton = &singleton{started: make(chan struct{}, 1), ended: make(chan struct{})}
	w.pmi.Serve(0, conn)
	go func() {
		w.pmi.Wait(0)
		j.mail.send(rootEnded{})
	}()
	return j.run()
}

// singleton is the state of a job whose rank 0 gompirun has not started.
type singleton struct {
	started chan struct{} // receives a value when processes have been started
	ended   chan struct{} // closed when the process has ended
}

// reapChildren reaps children until the process without a launcher and all children have ended.
func (s *singleton) reapChildren(j *job) {
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

// singletonEnded handles the end of the process without a launcher.
func (j *job) singletonEnded() {
	close(j.singleton.ended)
	j.out.pumps.Done()
	j.noteEnd(0, syscall.WaitStatus(0))
	j.judgeEnds()
}
