package fuzz

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
	"gompirma/tests/go/harness"
)

// Environment variables of these tests:
//
//	GOMPIRMA_FUZZ_CALLS=1000000     number of calls (default: 400000)
//	GOMPIRMA_FUZZ_SEED=17           seed (default: 1; random if GOMPIRMA_FUZZ_CALLS is set)
//	GOMPIRMA_FUZZ_HANDLER=0         only jobs with this error handler (Handlers)
//	GOMPIRMA_FUZZ_JOB=3,17,4000,0   only the job with this number of ranks, seed, number of calls and error handler
//	GOMPIRMA_FUZZ_JOB=before,MPI_Put,17,20   for TestOutside: only this phase, function, seed and number of calls
//	GOMPIRMA_FUZZ_FUNCTIONS=Win_*   only these functions; !Win_*: all except these; | separates several patterns
//	GOMPIRMA_FUZZ_TRACE=1           the programs print every call on standard output
var (
	envCalls   = os.Getenv("GOMPIRMA_FUZZ_CALLS")
	envSeed    = os.Getenv("GOMPIRMA_FUZZ_SEED")
	envHandler = os.Getenv("GOMPIRMA_FUZZ_HANDLER")
	envJob     = os.Getenv("GOMPIRMA_FUZZ_JOB")
)

const top = "../../.."

// defaultCalls is the number of calls of all jobs if GOMPIRMA_FUZZ_CALLS is not set. callsPerJob is the number of calls
// of each rank in a job.
const defaultCalls, callsPerJob = 400000, 4000

func runner(t *testing.T) *Runner {
	build := harness.Built(t, top)
	dir := t.TempDir()
	program, err := Build(filepath.Join(build, "bin/gompicc"), filepath.Join(top, "tests/c/fuzz"), dir)
	require.NoError(t, err)
	return &Runner{Launcher: filepath.Join(build, "bin/gompirun"), Program: program, Dir: dir,
		Patience: 60 * time.Second}
}

// seedOf returns the seed of all random choices. With the default number of calls the seed is fixed.
func seedOf(t *testing.T) uint64 {
	if envSeed == "" && envCalls == "" {
		return 1
	}
	if envSeed == "" {
		envSeed = strconv.FormatUint(uint64(rand.Uint32()), 10)
	}
	seed, err := strconv.ParseUint(envSeed, 10, 64)
	require.NoError(t, err, "GOMPIRMA_FUZZ_SEED")
	return seed
}

// TestFuzz checks calls with invalid arguments, in jobs of one and of three ranks, with each kind of error handler.
func TestFuzz(t *testing.T) {
	r := runner(t)
	seed, calls := seedOf(t), defaultCalls
	var err error
	if envCalls != "" {
		calls, err = strconv.Atoi(envCalls)
		require.NoError(t, err, "GOMPIRMA_FUZZ_CALLS")
	}
	var jobs []Job
	if envJob != "" {
		var j Job
		_, err = fmt.Sscanf(envJob, "%d,%d,%d,%d", &j.Ranks, &j.Seed, &j.Calls, &j.Handler)
		require.NoError(t, err, "GOMPIRMA_FUZZ_JOB")
		jobs = append(jobs, j)
	} else {
		t.Logf("seed %d", seed)
		random := rand.New(rand.NewPCG(seed, 0))
		for left := calls; left > 0; left -= callsPerJob {
			j := Job{Ranks: 1 + 2*(len(jobs)%2), Seed: uint64(random.Uint32()),
				Calls: min(left, callsPerJob), Handler: len(jobs) / 2 % len(Handlers)}
			if envHandler != "" {
				j.Handler, err = strconv.Atoi(envHandler)
				require.NoError(t, err, "GOMPIRMA_FUZZ_HANDLER")
			}
			jobs = append(jobs, j)
		}
	}
	total := runAll(t, r, jobs)
	t.Logf("%d calls of %d functions in %d jobs", total.Total, count(total.Made), len(jobs))
	if envJob != "" || testing.Verbose() {
		for _, name := range never(total, total.Made) {
			t.Logf("never made: %s", name)
		}
		for _, name := range never(total, total.Done) {
			t.Logf("never without error: %s", name)
		}
	}
}

// collector counts findings by their key, and keeps one example of each.
type collector struct {
	mu      sync.Mutex
	seen    map[string]int
	example map[string]*Finding
}

func (c *collector) add(list []*Finding) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen == nil {
		c.seen, c.example = map[string]int{}, map[string]*Finding{}
	}
	for _, f := range list {
		if c.seen[f.Key()]++; c.example[f.Key()] == nil {
			c.example[f.Key()] = f
		}
	}
}

func (c *collector) report(t *testing.T) {
	for _, k := range slices.Sorted(maps.Keys(c.example)) {
		t.Errorf("%d times: %v", c.seen[k], c.example[k])
	}
}

// each calls the function `do` for all items, concurrently on as many goroutines as there are processors.
func each[T any](items []T, do func(T)) {
	work := make(chan T)
	var wait sync.WaitGroup
	for range max(1, runtime.NumCPU()) {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for x := range work {
				do(x)
			}
		}()
	}
	for _, x := range items {
		work <- x
	}
	close(work)
	wait.Wait()
}

// runAll runs the jobs and reports their findings as test errors. It returns the sum of the jobs' counts.
func runAll(t *testing.T, r *Runner, jobs []Job) *Result {
	var found collector
	total := newResult()
	each(jobs, func(j Job) {
		res, err := r.Run(j)
		if err != nil {
			t.Error(err)
			return
		}
		found.add(res.Findings)
		found.mu.Lock()
		defer found.mu.Unlock()
		total.Add(res)
	})
	found.report(t)
	return total
}

// TestOutside checks calls of functions before MPI_Init and after MPI_Finalize, and of functions that end MPI.
func TestOutside(t *testing.T) {
	r := runner(t)
	type one struct {
		phase, function string
		seed            uint64
		calls           int
	}
	var list []one
	for i, f := range abi.Functions() {
		for k, phase := range []string{"before", "after"} {
			if envCalls != "" || (i+k)%10 == 0 {
				list = append(list, one{phase, f.Name, seedOf(t), 20})
			}
		}
	}
	for seed := range uint64(4) {
		list = append(list, one{"within", "MPI_Abort", seed, 1}, one{"within", "MPI_Finalize", seed, 3})
	}
	if envJob != "" {
		f := strings.Split(envJob, ",")
		require.Len(t, f, 4, "GOMPIRMA_FUZZ_JOB")
		seed, err := strconv.ParseUint(f[2], 10, 64)
		require.NoError(t, err, "GOMPIRMA_FUZZ_JOB")
		calls, err := strconv.Atoi(f[3])
		require.NoError(t, err, "GOMPIRMA_FUZZ_JOB")
		list = []one{{f[0], f[1], seed, calls}}
	}
	var found collector
	total := 0
	each(list, func(o one) {
		made, findings, err := r.Outside(o.phase, o.function, o.seed, o.calls)
		if err != nil {
			t.Error(err)
		}
		found.add(findings)
		found.mu.Lock()
		defer found.mu.Unlock()
		total += made
	})
	found.report(t)
	t.Logf("%d calls in %d processes", total, len(list))
}

func count(made map[string]int) int {
	n := 0
	for _, k := range made {
		if k > 0 {
			n++
		}
	}
	return n
}

// never lists the functions whose entry in `counts` is 0. For each it adds the number of calls that were made and of
// calls that were drawn but not made.
func never(r *Result, counts map[string]int) []string {
	var names []string
	for name, n := range counts {
		if n == 0 {
			names = append(names, fmt.Sprintf("%s (%d made, %d held)", name, r.Made[name], r.Held[name]))
		}
	}
	sort.Strings(names)
	return names
}
