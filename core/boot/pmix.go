package boot

import (
	"fmt"
	"time"

	"gompirma/core/boot/pmi1"
)

// PMIx is the interface to libpmix in a process that a launcher has started. capi/pmix implements it in C.
type PMIx interface {
	// Init registers the process with its launcher and returns its rank.
	Init() (rank int, err error)
	// Number returns the launcher's value of a key, about the job or about this process; false if there is no
	// value.
	Number(key string, ofJob bool) (int, bool)
	// Put publishes a value of any bytes. Get returns the value that the process of the given rank has published
	// before the last Fence.
	Put(key, value string) error
	Get(rank int, key string) (string, error)
	Fence() error
	Abort(status int, text string) error
	Finalize() error
	// Lost returns a channel that is closed when the launcher ends.
	Lost() <-chan struct{}
}

// LoadPMIx loads libpmix. capi sets it, since loading needs C.
var LoadPMIx func() (PMIx, error)

// Names that PMIx defines for values of the launcher.
const (
	pmixJobSize  = "pmix.job.size"
	pmixUniverse = "pmix.univ.size"
	pmixAppNum   = "pmix.appnum"
)

// pmixAbortTime is the longest wait for the launcher's answer to an Abort. Afterwards the process ends without it.
const pmixAbortTime = 2 * time.Second

// pmixJob is the Client of a process whose launcher speaks PMIx.
type pmixJob struct {
	lib        PMIx
	rank, size int
	limit      time.Duration
	fenceDone  bool
	watch      pmi1.Watch
}

func openPMIx(rank string) (Client, error) {
	const instead = "or use gompirun, MPICH's mpiexec or 'srun --mpi=pmi2'; to run without a launcher, unset " +
		"PMIX_RANK"
	if LoadPMIx == nil {
		return nil, failure("a launcher that uses PMIx started this process (PMIX_RANK=%s), "+
			"but this program does not support PMIx: use gompirun", rank)
	}
	lib, err := LoadPMIx()
	if err != nil {
		return nil, failure("a launcher that uses PMIx started this process (PMIX_RANK=%s), but "+
			"libpmix cannot be loaded: %v. Install it (Debian's package libpmix2), add its directory "+
			"to LD_LIBRARY_PATH, %s", rank, err, instead)
	}
	p := &pmixJob{lib: lib, watch: pmi1.Unwatched{}}
	if p.rank, err = lib.Init(); err != nil {
		return nil, failure("the launcher (PMIX_RANK=%s) does not answer: %v. It may have ended, or its PMIx "+
			"version may not match libpmix on this node. Start the program again, %s", rank, err, instead)
	}
	size, ok := lib.Number(pmixJobSize, true)
	switch {
	case !ok:
		lib.Finalize()
		return nil, failure("the launcher (PMIX_RANK=%s) reports no job for this process: probably a process "+
			"of a job started it. To run it without a launcher, unset PMIX_RANK", rank)
	case p.rank < 0 || p.rank >= size:
		lib.Finalize()
		return nil, failure("the launcher (PMIX_RANK=%s) assigned rank %d of %d processes, which is "+
			"invalid", rank, p.rank, size)
	}
	p.size = size
	return p, nil
}

func (p *pmixJob) Rank() int                     { return p.rank }
func (p *pmixJob) Size() int                     { return p.size }
func (p *pmixJob) Control() (Control, bool)      { return Control{}, false }
func (p *pmixJob) LauncherLost() <-chan struct{} { return p.lib.Lost() }
func (p *pmixJob) AppNum() (int, bool)           { return p.lib.Number(pmixAppNum, false) }

func (p *pmixJob) UniverseSize() int {
	// The launcher's number of slots, which may be less than the number of processes.
	n, _ := p.lib.Number(pmixUniverse, true)
	return max(n, p.size)
}

func (p *pmixJob) Put(key, value string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	return pmixError(p.lib.Put("gompirma."+key, value))
}

func (p *pmixJob) Get(rank int, key string) (value string, err error) {
	if err := checkKey(key); err != nil {
		return "", err
	}
	err = p.runWithin(p.limit, nil, func() (e error) { value, e = p.lib.Get(rank, "gompirma."+key); return e })
	if err != nil {
		return "", failure("the launcher did not return key %q of rank %d: %v", key, rank, err)
	}
	return value, nil
}

func (p *pmixJob) Fence() error {
	limit := p.limit
	if !p.fenceDone {
		limit = 0
	}
	err := p.runWithin(limit, p.watch, p.lib.Fence)
	p.fenceDone = p.fenceDone || err == nil
	return pmixError(err)
}

func (p *pmixJob) Limit(d time.Duration) { p.limit = d }
func (p *pmixJob) SetWatch(w pmi1.Watch) { p.watch = w }

// Finalize does not wait for the other processes: PMIx_Finalize waits for them only on request.
func (p *pmixJob) Finalize() error {
	done := make(chan error, 1)
	go func() { done <- p.lib.Finalize() }()
	// PMIx_Finalize closes the connection to the launcher, so a lost connection is no error here.
	err, failed := pmi1.Await(done, nil, p.limit, nil)
	if failed != nil {
		return pmixError(failed)
	}
	return pmixError(err)
}

func (p *pmixJob) Abort(status, lost int) error {
	text := "MPI_Abort"
	if lost >= 0 {
		text = fmt.Sprintf("rank %d failed", lost)
	}
	answered := make(chan error, 1)
	go func() { answered <- p.lib.Abort(status, text) }()
	err, failed := pmi1.Await(answered, p.lib.Lost(), pmixAbortTime, nil)
	if failed != nil {
		return pmixError(failed)
	}
	return pmixError(err)
}

// runWithin calls the function `do`, which may wait for the launcher, and returns its error. It returns early if the
// launcher ends. It also returns after the time `limit`, unless the limit is 0 or `watch` reports failures of all
// processes that `do` waits for.
func (p *pmixJob) runWithin(limit time.Duration, watch pmi1.Watch, do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	err, failed := pmi1.Await(done, p.lib.Lost(), limit, watch)
	if failed != nil {
		return failed
	}
	return err
}

// allGather implements AllGather: the launcher's servers distribute all values to every node, so that a process fetches
// a value without a message to another node.
func (p *pmixJob) allGather(name, value string) ([]string, error) {
	if err := p.Put(name, value); err != nil {
		return nil, err
	}
	if err := p.Fence(); err != nil {
		return nil, err
	}
	all := make([]string, p.size)
	err := p.runWithin(p.limit, nil, func() (err error) {
		for r := range all {
			if all[r], err = p.lib.Get(r, "gompirma."+name); err != nil {
				return failure("the launcher did not return key %q of rank %d: %v", name, r, err)
			}
		}
		return nil
	})
	return all, pmixError(err)
}

// pmixError converts an error of libpmix to an error of class MPI_ERR_OTHER; nil if err is nil.
func pmixError(err error) error {
	if err == nil {
		return nil
	}
	return failure("the launcher (PMIx): %s", explained(err))
}
