// Package boot determines the rank of a process, the size of the job and its node. Before the processes can communicate
// by other means, they exchange small values through the launcher. The package owns the connection to the launcher. The
// package must not interpret the values. It must not use shared memory or messages.
//
// Open chooses the protocol from the environment: PMI-1 over an inherited descriptor or a port (gompirun, Hydra's
// mpiexec, Slurm), PMIx (Open MPI's mpirun, PRRTE, Slurm), or none if no launcher started the process. Nodes determines
// which processes share a machine.
package boot

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"gompirma/core/abi"
	"gompirma/core/boot/pmi1"
	"gompirma/core/mpierr"
)

// Client is the process's side of the connection to a launcher. Its methods may be called from any thread. No wait is
// unbounded: if the launcher ends, every wait ends with an error. Errors are of class MPI_ERR_OTHER.
type Client interface {
	// Rank returns the rank of this process in the job, 0 <= Rank < Size.
	Rank() int
	// Size returns the number of processes of the job.
	Size() int
	// AppNum returns the index, from 0, of the program specification that started this process; false if the
	// launcher does not report it.
	AppNum() (int, bool)
	// UniverseSize returns the number of processes that could run in the job, at least Size. It returns Size if the
	// launcher does not report it.
	UniverseSize() int

	// Put publishes a value under a key. The value may consist of any bytes. The key must not have been used by any
	// process in this job; it has letters, digits, '-', '_' and '.', and at most MaxKey bytes. Put sends about one
	// message to the launcher for each 750 bytes of the value.
	Put(key, value string) error
	// Get returns the value that the process of the given rank has published under key before the last Fence. Get
	// sends as many messages as Put for this value.
	Get(rank int, key string) (string, error)
	// Fence waits until every process of the job has called it. Afterwards Get returns all values that were
	// published before this Fence. Fence sends one message.
	Fence() error

	// Limit sets the longest wait for the launcher; 0 means no limit. A wait that exceeds the limit ends with an
	// error. There are two exceptions. A Fence has no limit while the watch can report whether the awaited
	// processes are alive. The first Fence never has a limit, since a process may run for long before it calls
	// MPI_Init.
	Limit(d time.Duration)
	// SetWatch sets the Watch, which reports whether the other processes are alive.
	SetWatch(w pmi1.Watch)

	// Finalize notifies the launcher that this process has finished and may end. Only Rank and Size may be called
	// afterwards.
	Finalize() error
	// Abort asks the launcher to end every process of the job; `status` becomes the launcher's exit status if
	// possible. It returns at once, even while another thread is in Fence. The caller must then end its process.
	// The argument `lost` is the rank of the failed process that caused the abort. It is ByError if the error
	// handler of a failed MPI call caused the abort, and -1 for MPI_Abort.
	Abort(status, lost int) error
	// Control returns the node's control segment if the launcher has created it. In that case the launcher also
	// watches the processes and ends all of them when one dies.
	Control() (Control, bool)
	// LauncherLost returns a channel that is closed when the launcher ends before Finalize: the process is an
	// orphan and should end. It is never closed if there is no launcher.
	LauncherLost() <-chan struct{}
}

// Control describes the control segment that gompirun passes to the processes of a node.
type Control struct {
	Fd       int // descriptor of the memfd, close-on-exec
	NodeRank int // index of this process among the processes of the node
	NodeSize int // processes of the job on this node
	// For a job that MPI_Comm_spawn has started in the memory of its parents: the index on this node of its process
	// with rank 0. 0 for other jobs.
	First int
}

// Spawner is the interface to a launcher that starts processes at run time. The Client of a process under gompirun
// implements it.
type Spawner interface {
	// Spawn starts processes, and returns the index on this node of the first one. It starts all of them or none.
	// Error: *pmi1.SpawnError if they cannot be started.
	Spawn(s *pmi1.Spawn) (first int, err error)
	// SpawnDone reports to the launcher whether this process has connected to the processes that Spawn has started,
	// by s.Parent or, if s.Apart is true, s.Port. If connected is false, the launcher ends these processes.
	SpawnDone(parent string, connected bool) error
	// Publish, Lookup and Unpublish access the table of published names. They return pmi1.ErrName for a name that
	// exists already, or does not exist.
	Publish(service, port string) error
	Lookup(service string) (port string, err error)
	Unpublish(service string) error
	// Lost returns a channel that is closed when the launcher has ended.
	Lost() <-chan struct{}
}

// ByError is the value of Abort's argument `lost` if the error handler of a failed MPI call ends the job.
const ByError = pmi1.ByError

// EnvTimeout names the environment variable that limits how long a process on another node may be silent before it
// counts as failed. The value is in seconds, or has a unit of Go's time.ParseDuration; 0 means no limit.
const EnvTimeout = "GOMPIRMA_PEER_TIMEOUT"

// PeerTimeout returns the value of EnvTimeout, or the default; 0 means no limit. It returns MPI_ERR_OTHER if the value
// is invalid.
func PeerTimeout() (time.Duration, error) { return peerTimeout(os.Getenv(EnvTimeout)) }

func peerTimeout(text string) (time.Duration, error) {
	const least, usual, most = 100 * time.Millisecond, 30 * time.Second, 1000 * time.Hour
	if text == "" {
		return usual, nil
	}
	d, err := time.ParseDuration(text)
	if seconds, failed := strconv.ParseFloat(text, 64); failed == nil {
		d, err = time.Duration(min(seconds, most.Seconds()+1)*float64(time.Second)), nil
	}
	if err != nil || d != 0 && (d < least || d > most) {
		return 0, failure("%s is %q; it must be a time such as 30, 30s or 500ms, from %v to %v, or "+
			"0", EnvTimeout,
			text, least, most)
	}
	return d, nil
}

// EnvInitialErrhandler names the environment variable that states the initial error handler of MPI_COMM_WORLD,
// MPI_COMM_SELF and the communicator with the parents, by one of the names in InitialErrhandlers.
const EnvInitialErrhandler = "GOMPIRMA_INITIAL_ERRHANDLER"

// InitialErrhandlers holds the values of EnvInitialErrhandler and of the info key mpi_initial_errhandler.
var InitialErrhandlers = map[string]uintptr{"mpi_errors_are_fatal": abi.MPI_ERRORS_ARE_FATAL,
	"mpi_errors_abort": abi.MPI_ERRORS_ABORT, "mpi_errors_return": abi.MPI_ERRORS_RETURN}

// InitialErrhandler returns the handle of the initial error handler of the given name; that of MPI_ERRORS_ARE_FATAL if
// the name is empty. Errors: MPI_ERR_OTHER if the name is invalid.
func InitialErrhandler(name string) (uintptr, error) {
	h, ok := InitialErrhandlers[strings.ToLower(cmp.Or(name, "mpi_errors_are_fatal"))]
	if !ok {
		return 0, failure("the initial error handler is %q; valid values are mpi_errors_are_fatal, "+
			"mpi_errors_abort and mpi_errors_return", name)
	}
	return h, nil
}

// CheckEnvironment returns MPI_ERR_OTHER if an environment variable of the library that is a switch, or the time of an
// event, has an invalid value. The functions that read these variables use the default instead.
func CheckEnvironment() error {
	for _, name := range []string{"GOMPIRMA_NO_CMA", "GOMPIRMA_SHOW_GO", EnvFT} {
		if value := os.Getenv(name); value != "" && value != "0" && value != "1" {
			return failure("%s is %q; it must be 0 or 1", name, value)
		}
	}
	const envLockEvent = "GOMPIRMA_LOCK_EVENT_US"
	value := os.Getenv(envLockEvent)
	if us, err := strconv.ParseInt(value, 10, 32); value != "" && (err != nil || us < 0) {
		return failure("%s is %q; it must be a number of microseconds from 0 to %d", envLockEvent, value,
			math.MaxInt32)
	}
	return nil
}

// MaxKey is the length of the longest key in bytes.
const MaxKey = 48

// Open finds the launcher that started this process and registers with it. Without a launcher, the process is a job of
// its own. Call Open once. Open sets close-on-exec for the descriptors of the launcher, so that programs started by
// this process do not inherit them.
//
// Launchers may be nested, so the environment may hold variables of several launchers. Open uses the innermost launcher
// that it can identify. Gompirun removes the variables of other launchers. PMI_FD has precedence over PMIx if it names
// an open socket. (Open MPI's mpirun closes the descriptor of an outer launcher.) Slurm's own variables do not select a
// launcher.
//
// Errors: MPI_ERR_OTHER if the environment is inconsistent, if the launcher cannot be reached, or if it uses another
// protocol than PMI-1 and PMIx.
func Open() (Client, error) { return open(os.LookupEnv) }

func open(env func(string) (string, bool)) (Client, error) {
	pmix, speaksPMIx := env("PMIX_RANK")
	if fd, ok := env("PMI_FD"); ok && (!speaksPMIx || isSocket(fd)) {
		return openDescriptor(env, fd)
	}
	if address, ok := env("PMI_PORT"); ok {
		return openPort(env, address)
	}
	if speaksPMIx {
		return openPMIx(pmix)
	}
	warnLonely(env, os.Stderr)
	return newSingleton(), nil
}

// warnLonely prints a warning, once for all tasks of a step, if Slurm has started several processes without passing
// ranks to them. Each task is then a job of its own, and a program would run without an error although its processes
// are not connected.
func warnLonely(env func(string) (string, bool), to io.Writer) {
	tasks, ok := env("SLURM_STEP_NUM_TASKS")
	n, err := strconv.Atoi(tasks)
	if task, _ := env("SLURM_PROCID"); !ok || err != nil || n < 2 || task != "0" {
		return
	}
	fmt.Fprintf(to, "gompirma: srun started %d tasks without PMI, so each is a job of one process: "+
		"use 'srun --mpi=pmi2' or 'srun --mpi=pmix' ('srun --mpi=list' lists the types)\n", n)
}

func failure(format string, args ...any) error { return mpierr.New(abi.MPI_ERR_OTHER, format, args...) }
