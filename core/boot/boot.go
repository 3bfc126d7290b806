// Package boot tells a process its place in the job and lets the processes exchange small values before they can
// communicate otherwise. It owns the connection to the launcher and must not know what the values mean, nor anything of
// shared memory or messages.
//
// Open chooses from the environment what to speak: PMI-1 over an inherited descriptor or a port (gompirun, Hydra's
// mpiexec, Slurm), PMIx (Open MPI's mpirun, PRRTE, Slurm), or nothing when the process was started without a launcher.
// Nodes finds out which processes share a machine.
package boot

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"gompirma/core/abi"
	"gompirma/core/boot/pmi1"
	"gompirma/core/mpierr"
)

// Client is the process' side of a launcher. Its methods may be called from any thread. None waits for ever: when the
// launcher goes, every wait ends with an error. Errors are of class MPI_ERR_OTHER.
type Client interface {
	// Rank is this process' rank in the job, 0 <= Rank < Size.
	Rank() int
	// Size is the number of processes of the job.
	Size() int
	// AppNum is the number of the program specification that started this process, from 0; false if the launcher
	// does not say.
	AppNum() (int, bool)
	// UniverseSize is the number of processes that could run in the job, at least Size; Size if the launcher does
	// not say.
	UniverseSize() int

	// Put publishes a value, any bytes, under a key that nobody has used in this job. A key consists of letters,
	// digits and '-', '_', '.', and has at most MaxKey bytes. One message to the launcher for about each 750 bytes.
	Put(key, value string) error
	// Get returns the value that the process of a rank Put under key before the last Fence. As many messages as its
	// Put.
	Get(rank int, key string) (string, error)
	// Fence waits until every process of the job has called it; afterwards each sees what all had Put before. One
	// message.
	Fence() error

	// Limit sets how long is waited for the launcher, 0: for ever; then errors say so. It counts for a Fence only
	// where nobody knows whether the processes live that it waits for, and never for the first one: a process may
	// have much to do before it comes to MPI_Init.
	Limit(d time.Duration)
	// Watched says who knows whether they live.
	Watched(w pmi1.Watch)

	// Finalize tells the launcher that this process has finished its part and may end. Only Rank and Size may be
	// called afterwards.
	Finalize() error
	// Abort asks the launcher to end every process of the job; status becomes the launcher's exit status where that
	// is possible. It returns at once, possibly while another thread is in Fence. The caller ends its process next.
	// lost is the rank whose end is why, -1: none is.
	Abort(status, lost int) error
	// Control returns the node's control segment if the launcher has made it; then the launcher also watches the
	// processes and ends them all when one dies.
	Control() (Control, bool)
	// HangUp is closed when the launcher goes away before Finalize: the process is an orphan and should end. Never
	// closed without a launcher.
	HangUp() <-chan struct{}
}

// Control is what gompirun hands down for the node.
type Control struct {
	Fd       int // descriptor of the memfd, close-on-exec
	NodeRank int // index of this process among those of the node
	NodeSize int // processes on this node
}

// EnvTimeout is how long a process on another node may be silent, in seconds or with a unit of Go's, 0: for ever.
const EnvTimeout = "GOMPIRMA_PEER_TIMEOUT"

// PeerTimeout is what EnvTimeout says, or the usual time; 0: for ever. MPI_ERR_OTHER: it says something else.
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
		return 0, failure("%s=%q: a time such as 30, 30s or 500ms is expected, from %v to %v, or 0", EnvTimeout,
			text, least, most)
	}
	return d, nil
}

// MaxKey is the longest key in bytes.
const MaxKey = 48

// Open finds the launcher that started this process and introduces itself to it; without one, the process is a job of
// its own. Call it once. Descriptors that the launcher passed are made close-on-exec, so that programs which this
// process starts do not keep them.
//
// A launcher's variables are inherited by whatever its processes start, so there may be those of several. The last one
// counts, as far as can be told: gompirun takes the others' away, PMI's descriptor counts before PMIx while it is open
// (mpirun closes it), and variables of Slurm alone mean nothing.
//
// Errors (MPI_ERR_OTHER): the environment promises a launcher that cannot be reached, does not speak PMI-1 or PMIx, or
// contradicts itself.
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

// warnLonely tells the user, once for all tasks of a step, when Slurm has started several processes without a word of
// who they are: each is a job of its own then, which looks like success.
func warnLonely(env func(string) (string, bool), to io.Writer) {
	tasks, ok := env("SLURM_STEP_NUM_TASKS")
	n, err := strconv.Atoi(tasks)
	if task, _ := env("SLURM_PROCID"); !ok || err != nil || n < 2 || task != "0" {
		return
	}
	fmt.Fprintf(to, "gompirma: srun has started %d tasks without PMI, so each of them is alone in MPI_COMM_WORLD: "+
		"use 'srun --mpi=pmi2' or 'srun --mpi=pmix' ('srun --mpi=list' tells what there is)\n", n)
}

func failure(format string, args ...any) error { return mpierr.New(abi.MPI_ERR_OTHER, format, args...) }
