package boot

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"gompirma/core/boot/pmi1"
)

// Variables of the environment that gompirun sets for each process, in addition to the variables of PMI-1. EnvJob holds
// the job's name. It detects processes that only inherit these variables: a process of this job may run another
// launcher, whose processes belong to another job but may also inherit the control segment's descriptor. In those
// processes, the name of the job that their own launcher reports differs from EnvJob.
const (
	EnvControlFd  = "GOMPIRMA_CONTROL_FD"
	EnvJob        = "GOMPIRMA_JOB"
	EnvLocalRank  = "MPI_LOCALRANKID"
	EnvLocalRanks = "MPI_LOCALNRANKS"
	// Only in processes that MPI_Comm_spawn has started. EnvFirst is the number, among all processes on the node,
	// of the process with rank 0 in MPI_COMM_WORLD. EnvParent identifies the processes that called MPI_Comm_spawn.
	EnvFirst  = "GOMPIRMA_FIRST"
	EnvParent = "GOMPIRMA_PARENT"
	// EnvParentPort is the value of EnvParent if another launcher than gompirun has started the process.
	EnvParentPort = "GOMPIRMA_PARENT_PORT"
	// EnvFT has the value 1 if the job continues when a process fails (gompirun --ft).
	EnvFT = "GOMPIRMA_FT"
)

// IsFaultTolerant returns whether the job continues when a process fails.
func IsFaultTolerant() bool { return os.Getenv(EnvFT) == "1" }

// launched is the Client of a process whose launcher speaks PMI-1.
type launched struct {
	*pmi1.Client
	rank, size int
	limit      int  // maximum bytes of one stored value
	isGompirun bool // the launcher is gompirun
	control    *Control
	parent     string // value of EnvParent

	universe func() int
	appNum   func() (int, bool)
}

func newLaunched(c *pmi1.Client, rank, size int) (*launched, error) {
	if rank < 0 || size < 1 || rank >= size {
		c.Close()
		return nil, failure("the launcher assigned rank %d of %d processes, which is invalid", rank, size)
	}
	if most := c.Limits().Key; most <= MaxKey+len("/9999") {
		c.Close()
		return nil, failure("the PMI of the launcher supports only keys shorter than %d bytes, but gompirma "+
			"needs keys of %d bytes", most, MaxKey+
			len("/9999")+1)
	}
	l := &launched{Client: c, rank: rank, size: size, limit: min(c.Limits().Value-1, 1000)}
	l.universe = sync.OnceValue(func() int {
		n, err := c.UniverseSize()
		if err != nil || n < size {
			return size
		}
		return n
	})
	l.appNum = sync.OnceValues(func() (int, bool) {
		n, err := c.AppNum()
		return max(n, 0), err == nil && n >= 0
	})
	return l, nil
}

func openDescriptor(env func(string) (string, bool), value string) (Client, error) {
	fd, err := strconv.Atoi(value)
	if err != nil || fd < 0 {
		return nil, failure("PMI_FD=%s is not the number of a file descriptor", value)
	}
	rank, err1 := number(env, "PMI_RANK")
	size, err2 := number(env, "PMI_SIZE")
	if err1 != nil {
		return nil, err1
	}
	if err2 != nil {
		return nil, err2
	}
	if !isSocket(value) {
		return nil, failure("the file descriptor to the launcher (PMI_FD=%d) is not open in this process: "+
			"a command between the launcher and this program closed it. To run without a launcher, unset "+
			"PMI_FD", fd)
	}
	unix.CloseOnExec(fd)
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, failure("cannot set O_NONBLOCK on the file descriptor to the launcher (PMI_FD=%d): %v",
			fd, err)
	}
	c, err := pmi1.NewClient(os.NewFile(uintptr(fd), "launcher"))
	if err != nil {
		return nil, failure("%v", err)
	}
	l, err := newLaunched(c, rank, size)
	if err != nil {
		return nil, err
	}
	if l.isGompirun = isGompirunJob(env, c.KvsName()); l.isGompirun {
		l.control = findControl(env)
		l.parent, _ = env(EnvParent)
		l.SetWatch(byLauncher{})
	}
	return l, nil
}

// isSocket reports whether `text` is the number of an open descriptor of a socket.
func isSocket(text string) bool {
	fd, err := strconv.Atoi(text)
	var st unix.Stat_t
	return err == nil && unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFSOCK
}

func openPort(env func(string) (string, bool), address string) (Client, error) {
	id, err := number(env, "PMI_ID")
	if err != nil {
		return nil, err
	}
	c, rank, size, err := pmi1.Dial(address, id)
	if err != nil {
		return nil, failure("PMI_PORT=%s: %v", address, err)
	}
	l, err := newLaunched(c, rank, size)
	if err != nil {
		return nil, err
	}
	return l, nil
}

func number(env func(string) (string, bool), name string) (int, error) {
	value, ok := env(name)
	if !ok {
		return 0, failure("the launcher did not set %s", name)
	}
	n, err := strconv.Atoi(value)
	if err != nil {
		return 0, failure("the launcher set %s=%s, which is not a number", name, value)
	}
	return n, nil
}

// IsByGompirun reports whether the client's launcher is gompirun.
func IsByGompirun(c Client) bool {
	l, ok := c.(*launched)
	return ok && l.isGompirun
}

// isGompirunJob reports whether the launcher of the given job is gompirun.
func isGompirunJob(env func(string) (string, bool), job string) bool {
	owner, _ := env(EnvJob)
	return owner == job
}

// byLauncher is the Watch of a process under gompirun, which watches all processes and ends the job when one of them
// dies.
type byLauncher struct{ pmi1.Unwatched }

func (byLauncher) DetectsFailure() bool { return true }

// findControl returns the control segment that gompirun passed to this process, or nil.
func findControl(env func(string) (string, bool)) *Control {
	var c Control
	for name, into := range map[string]*int{EnvControlFd: &c.Fd, EnvLocalRank: &c.NodeRank,
		EnvLocalRanks: &c.NodeSize} {
		n, err := number(env, name)
		if err != nil || n < 0 {
			return nil
		}
		*into = n
	}
	if n, err := number(env, EnvFirst); err == nil && n > 0 {
		c.First = n
	}
	// A process between gompirun and this one may have closed the descriptor, and its number may belong to another
	// file. The check for seals detects that: only a memfd has seals. Without the segment, the processes of the
	// node create one of their own, as under other launchers.
	if _, err := unix.FcntlInt(uintptr(c.Fd), unix.F_GET_SEALS, 0); err != nil {
		return nil
	}
	if _, err := unix.FcntlInt(uintptr(c.Fd), unix.F_SETFD, unix.FD_CLOEXEC); err != nil {
		return nil
	}
	return &c
}

// Parent returns a text that identifies the processes that have started the job of c by MPI_Comm_spawn; "" if there are
// none.
func Parent(c Client) string {
	if IsByGompirun(c) {
		return c.(*launched).parent
	}
	return parentPort()
}

// parentPort removes EnvParentPort from the environment of this process, so that jobs which the process starts by
// itself do not inherit it, and returns its value.
var parentPort = sync.OnceValue(func() string {
	port := os.Getenv(EnvParentPort)
	os.Unsetenv(EnvParentPort)
	return port
})

func (l *launched) Rank() int           { return l.rank }
func (l *launched) Size() int           { return l.size }
func (l *launched) AppNum() (int, bool) { return l.appNum() }
func (l *launched) UniverseSize() int   { return l.universe() }

func (l *launched) Put(key, value string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	return otherError(store(l.Client.Put, l.limit, key, value))
}

func (l *launched) Get(_ int, key string) (string, error) {
	value, err := fetch(l.Client.Get, key)
	return value, otherError(err)
}

func (l *launched) Fence() error    { return otherError(l.Barrier()) }
func (l *launched) Finalize() error { return otherError(l.Client.Finalize()) }

// abortDelay is the time for which Abort waits before it sends the request. The delay gives Hydra time to forward the
// process's last output. Without it, Hydra loses this output in one of ten aborts.
const abortDelay = 50 * time.Millisecond

func (l *launched) Abort(status, lost int) error {
	if !l.isGompirun {
		lost = -1
		select {
		case <-l.LauncherLost():
		case <-time.After(abortDelay):
		}
	}
	return otherError(l.Client.Abort(status, lost))
}

func (l *launched) Control() (Control, bool) {
	if l.control == nil {
		return Control{}, false
	}
	return *l.control, true
}

func (l *launched) LauncherLost() <-chan struct{} { return l.Lost() }

// otherError returns err as an error of class MPI_ERR_OTHER; nil if err is nil.
func otherError(err error) error {
	if err == nil {
		return nil
	}
	return failure("%s", explained(err))
}

// explained returns the text of `err`, an error of a wait for the launcher, and adds advice for the user.
func explained(err error) string {
	text := strings.TrimSpace(err.Error())
	if errors.Is(err, pmi1.ErrIncomplete) {
		text += " (" + EnvTimeout + " sets this time limit; 0 means no limit)"
	}
	return text
}
