package boot

import (
	"fmt"
	"time"

	"gompirma/core/boot/pmi1"
)

// PMIx is libpmix in a process that a launcher has started. capi/pmix is it, in C.
type PMIx interface {
	// Init introduces the process to its launcher, which gives it a rank.
	Init() (rank int, err error)
	// Number is what the launcher tells under a key, about the job or this process; false: it does not.
	Number(key string, ofJob bool) (int, bool)
	// Put publishes a value of any bytes, Get returns what the process of a rank has Put before the last Fence.
	Put(key, value string) error
	Get(rank int, key string) (string, error)
	Fence() error
	Abort(status int, text string) error
	Finalize() error
	// Lost is closed when the launcher goes away.
	Lost() <-chan struct{}
}

// LoadPMIx loads libpmix; capi sets it, since that takes C.
var LoadPMIx func() (PMIx, error)

// Names that PMIx gives to what a launcher tells.
const (
	pmixJobSize  = "pmix.job.size"
	pmixUniverse = "pmix.univ.size"
	pmixAppNum   = "pmix.appnum"
)

// How long is waited for the launcher's answer to an Abort, before the process ends all the same.
const pmixAbortTime = 2 * time.Second

// pmixJob is a process of a launcher that speaks PMIx.
type pmixJob struct {
	lib        PMIx
	rank, size int
	limit      time.Duration
	met        bool // a fence is over
	watch      pmi1.Watch
}

func openPMIx(rank string) (Client, error) {
	const instead = "or use gompirun, MPICH's mpiexec or 'srun --mpi=pmi2'; to run without a launcher, unset " +
		"PMIX_RANK"
	if LoadPMIx == nil {
		return nil, failure("this process was started by a launcher that speaks PMIx (PMIX_RANK=%s), "+
			"which this program has no means to: use gompirun", rank)
	}
	lib, err := LoadPMIx()
	if err != nil {
		return nil, failure("this process was started by a launcher that speaks PMIx (PMIX_RANK=%s), and "+
			"libpmix cannot be loaded: %v: install it (Debian's package libpmix2), or name its folder "+
			"in LD_LIBRARY_PATH, %s", rank, err, instead)
	}
	p := &pmixJob{lib: lib, watch: pmi1.Unwatched{}}
	if p.rank, err = lib.Init(); err != nil {
		return nil, failure("the launcher (PMIX_RANK=%s) does not answer: %v: it may be gone or of another "+
			"version than libpmix here; start the program by it anew, %s", rank, err, instead)
	}
	size, ok := lib.Number(pmixJobSize, true)
	switch {
	case !ok:
		lib.Finalize()
		return nil, failure("the launcher (PMIX_RANK=%s) says nothing of a job: a process of one has probably "+
			"started this one; to run without a launcher, unset PMIX_RANK", rank)
	case p.rank < 0 || p.rank >= size:
		lib.Finalize()
		return nil, failure("the launcher (PMIX_RANK=%s) gave this process rank %d of %d", rank, p.rank, size)
	}
	p.size = size
	return p, nil
}

func (p *pmixJob) Rank() int                { return p.rank }
func (p *pmixJob) Size() int                { return p.size }
func (p *pmixJob) Control() (Control, bool) { return Control{}, false }
func (p *pmixJob) HangUp() <-chan struct{}  { return p.lib.Lost() }
func (p *pmixJob) AppNum() (int, bool)      { return p.lib.Number(pmixAppNum, false) }

func (p *pmixJob) UniverseSize() int {
	n, _ := p.lib.Number(pmixUniverse, true) // slots, of which there may be fewer than processes
	return max(n, p.size)
}

func (p *pmixJob) Put(key, value string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	return told(p.lib.Put("gompirma."+key, value))
}

func (p *pmixJob) Get(rank int, key string) (value string, err error) {
	if err := checkKey(key); err != nil {
		return "", err
	}
	err = p.within(p.limit, nil, func() (e error) { value, e = p.lib.Get(rank, "gompirma."+key); return e })
	if err != nil {
		return "", failure("key %q of rank %d: %v", key, rank, err)
	}
	return value, nil
}

func (p *pmixJob) Fence() error {
	limit := p.limit
	if !p.met {
		limit = 0
	}
	err := p.within(limit, p.watch, p.lib.Fence)
	p.met = p.met || err == nil
	return told(err)
}

func (p *pmixJob) Limit(d time.Duration) { p.limit = d }
func (p *pmixJob) Watched(w pmi1.Watch)  { p.watch = w }

// Finalize must not wait for the others, which PMIx_Finalize does not do unless it is asked to.
func (p *pmixJob) Finalize() error {
	done := make(chan error, 1)
	go func() { done <- p.lib.Finalize() }()
	// The connection to the launcher ends on the way: that it is lost means nothing.
	err, failed := pmi1.Await(done, nil, p.limit, nil)
	if failed != nil {
		return told(failed)
	}
	return told(err)
}

func (p *pmixJob) Abort(status, lost int) error {
	text := "MPI_Abort"
	if lost >= 0 {
		text = fmt.Sprintf("rank %d is lost", lost)
	}
	answered := make(chan error, 1)
	go func() { answered <- p.lib.Abort(status, text) }()
	err, failed := pmi1.Await(answered, p.lib.Lost(), pmixAbortTime, nil)
	if failed != nil {
		return told(failed)
	}
	return told(err)
}

// within does what may wait for the launcher, until that is gone, and no longer than limit unless that is 0 or watch
// sees all that it waits for.
func (p *pmixJob) within(limit time.Duration, watch pmi1.Watch, do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	err, failed := pmi1.Await(done, p.lib.Lost(), limit, watch)
	if failed != nil {
		return failed
	}
	return err
}

// gather is AllGather: the launcher's servers bring the values of all to each, so that to get one costs no message.
func (p *pmixJob) gather(name, value string) ([]string, error) {
	if err := p.Put(name, value); err != nil {
		return nil, err
	}
	if err := p.Fence(); err != nil {
		return nil, err
	}
	all := make([]string, p.size)
	err := p.within(p.limit, nil, func() (err error) {
		for r := range all {
			if all[r], err = p.lib.Get(r, "gompirma."+name); err != nil {
				return failure("key %q of rank %d: %v", name, r, err)
			}
		}
		return nil
	})
	return all, told(err)
}

// told gives an error of the library its class.
func told(err error) error {
	if err == nil {
		return nil
	}
	return failure("the launcher (PMIx): %s", explained(err))
}
