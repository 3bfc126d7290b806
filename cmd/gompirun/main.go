// Command gompirun starts the processes of a job on this machine, serves them as a PMI-1 launcher, gives them the
// node's control segment, passes on their output line by line, and ends them all when one fails. `gompirun --help` is
// its manual.
//
//	options.go     what the command line asks for
//	launch.go      finding programs, starting and reaping processes
//	job.go         what happens to the job, event by event
//	ends.go        which end of a rank was the first
//	nodes.go       the memory of the node, or of those that --nodes pretends
//	output.go      lines of many processes on one stream
//	pmi.go         the launcher's side of PMI-1
//	input.go       a terminal's input for rank 0
//	report.go      the lines about what went wrong
//	waits.go       what ranks do, in words
//	hang.go        whether the job moves
//	threads.go     what threads do that are not in MPI
//	holders.go     who holds the locks of windows
//	deadlock.go    which ranks wait for each other
//	calls.go       where the calls are that ranks wait in
//	unwind.go      stacks of other processes
//	signals.go     signals to gompirun
//	binding.go     which cores a rank is bound to
//	hosts.go       lists of hosts, and which of them is this machine
//	allocation.go  the hosts that Slurm has given
//	foreign.go     programs of another MPI library
//	preflight.go   looking at hosts before a job
//	page.go        gompirun report: a page made of a trace
//	trace.go       gompirun --trace: the trace
//	remote.go      jobs on other hosts, which another launcher starts
//	listen.go      what is recorded of ranks on other hosts
//	relay.go       what runs beside such a rank
//	leftover.go    what ranks leave running
//
// One goroutine, (*job).run, owns all that is known about the job; the others send it events.
package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	_ "gompirma/core/lastwords" // one line, should the Go runtime fail
	"gompirma/core/limit"
	"gompirma/core/shm"
	"gompirma/core/version"
)

// Exit statuses of gompirun itself; others are those of the first rank that failed.
const (
	statusConflict = 3   // --check has found something, and nothing else was wrong
	statusFailed   = 1   // a rank broke the rules of a job: it left without MPI_Finalize, or aborted with status 0
	statusUsage    = 2   // nothing was started
	statusDeadlock = 4   // of --deadlock=abort
	statusTimedOut = 124 // as timeout(1) has it
	statusSignal   = 128 // plus the signal
)

// neededAddressSpace is what the tables of the Go runtime take, of which some come silently to lie elsewhere if there
// is less, and gompirun itself. In bytes.
const neededAddressSpace = 1300 << 20

func main() { os.Exit(gompirun(os.Args[1:])) }

func gompirun(args []string) int {
	if err := limit.AddressSpace(neededAddressSpace); err != nil {
		return refuse(err)
	}
	if len(args) == 1 && args[0] == preflightRank {
		return runPreflight()
	}
	if len(args) > 1 && args[0] == relayRank {
		return runRelay(args[1:])
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
		return startElsewhere(opts)
	}
	j, err := newJob(opts)
	if err != nil {
		return refuse(err)
	}
	return j.run()
}

// refuse says in one line why nothing was started.
func refuse(err error) int {
	fmt.Fprintln(os.Stderr, "gompirun:", err)
	return statusUsage
}
