// Command gompirun starts the processes of a job on this machine and ends all of them when one fails. It is the PMI-1
// server of these processes, creates the node's control segment, and forwards their output line by line. `gompirun
// --help` prints its manual. The command owns the state of the job. It must not contain any part of the MPI library
// (capi). It observes ranks only through their processes, memory, PMI messages, control segment and recorded calls.
//
//	options.go     the command line
//	launch.go      finding programs, starting and reaping processes
//	job.go         the state of the job, event by event
//	ends.go        which of several ended ranks ended first
//	nodes.go       the memory of the node, or of the nodes that --nodes simulates
//	output.go      lines of many processes on one stream
//	pmi.go         the launcher's side of PMI-1
//	input.go       a terminal's input for rank 0
//	report.go      messages about failures
//	wait_text.go   text on what ranks do
//	hang.go        detection of hangs
//	threads.go     threads of ranks that do not wait in MPI
//	holders.go     holders of the locks of windows
//	deadlock.go    which ranks wait for each other
//	calls.go       source locations of the calls in which ranks wait
//	unwind.go      stacks of other processes
//	progress.go    how many ranks compute and wait
//	hints.go       hints for options that gompirun does not have
//	signals.go     signals to gompirun
//	binding.go     which cores a rank is bound to
//	hosts.go       lists of hosts, and which of them is this machine
//	allocation.go  the hosts that Slurm has allocated
//	foreign.go     programs that are linked to another MPI library
//	preflight.go   checks of hosts before a job
//	report_page.go gompirun report: a page made from a trace
//	trace.go       gompirun --trace: the trace
//	remote.go      jobs on other hosts, which another launcher starts
//	listen.go      records of ranks on other hosts
//	relay.go       the gompirun process that runs a rank's program on another host
//	leftover.go    processes that ranks leave running
//
// One goroutine, (*job).run, owns the state of the job; the other goroutines send it events.
package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"gompirma/core/boot"
	_ "gompirma/core/lastwords" // prints one line if the Go runtime fails
	"gompirma/core/limit"
	"gompirma/core/shm"
	"gompirma/core/version"
)

// Exit statuses of gompirun itself. Other values are the status of the first failed rank.
const (
	statusConflict = 3   // --check has found something, and there was no other failure
	statusFailed   = 1   // a rank ended without MPI_Finalize, or aborted with status 0
	statusUsage    = 2   // no process was started
	statusDeadlock = 4   // --deadlock=abort has ended a deadlocked job
	statusTimedOut = 124 // --timeout has ended the job; timeout(1) uses the same status
	statusSignal   = 128 // plus the number of the signal that ended gompirun or a rank
)

// neededAddressSpace is the number of bytes of address space that gompirun and the Go runtime's tables need. gompirun
// checks its limit itself: below it, the Go runtime may fail later, at an allocation. gompirun usually takes 1,400 MiB.
// Once, 1,465 MiB did not suffice.
const neededAddressSpace = 1700 << 20

func main() { os.Exit(gompirun(os.Args[1:])) }

func gompirun(args []string) int {
	if err := limit.CheckAddressSpace(neededAddressSpace); err != nil {
		return refuse(err)
	}
	if len(args) == 1 && args[0] == preflightRank {
		return runPreflight()
	}
	if len(args) > 1 && args[0] == relayRank {
		return runRelay(args[1:])
	}
	if len(args) == 3 && args[0] == boot.ServeWord {
		return runServe(args[1], args[2])
	}
	if len(args) > 0 && args[0] == reportWord {
		return runReport(args[1:])
	}
	opts, err := parse(args, os.LookupEnv)
	switch {
	case errors.Is(err, errHelp):
		fmt.Print(strings.ReplaceAll(manual, "%MAX%", strconv.Itoa(shm.MaxProcesses)))
		return 0
	case errors.Is(err, errVersion):
		fmt.Println("gompirun (gompirma)", version.String)
		return 0
	case err != nil:
		return refuse(err)
	}
	if opts.remote != "" {
		return startRemote(opts)
	}
	j, err := newJob(opts)
	if err != nil {
		return refuse(err)
	}
	return j.run()
}

// refuse prints one line with the reason why no process was started, and returns the exit status.
func refuse(err error) int {
	fmt.Fprintln(os.Stderr, "gompirun:", err)
	return statusUsage
}
