package model

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gompirma/tests/go/harness"
)

// Environment variables of these tests:
//
//	GOMPIRMA_SOAK=10m            run random seeds for this time, instead of a few fixed ones
//	GOMPIRMA_MODEL_SEED=17       run only the program of this seed ...
//	GOMPIRMA_MODEL_PROFILE=name  ... and of this profile
//	GOMPIRMA_MODEL_CALLS=3,8     keep only these calls of the program
//	GOMPIRMA_MODEL_TIMES=100     number of repetitions
//	GOMPIRMA_MODEL_PRINT=1       print a listing of the program
//	GOMPIRMA_MODEL_MPI=mpich     use Debian's MPICH (or openmpi) instead of gompirma
var (
	envSoak    = os.Getenv("GOMPIRMA_SOAK")
	envSeed    = os.Getenv("GOMPIRMA_MODEL_SEED")
	envProfile = os.Getenv("GOMPIRMA_MODEL_PROFILE")
	envCalls   = os.Getenv("GOMPIRMA_MODEL_CALLS")
	envTimes   = os.Getenv("GOMPIRMA_MODEL_TIMES")
	envPrint   = os.Getenv("GOMPIRMA_MODEL_PRINT")
	envMPI     = os.Getenv("GOMPIRMA_MODEL_MPI")
)

// named is a profile of programs with a name, and with the environment variables under which the programs run.
type named struct {
	name string
	Profile
	env []string
}

func profiles() []named {
	small := Profile{Ranks: 3, Windows: 2, Bytes: 600, Elements: 40, Calls: 8, Phases: 4, Depth: 3, Hot: 30}
	with := func(changes ...func(p *Profile)) Profile {
		p := small
		for _, change := range changes {
			change(&p)
		}
		return p
	}
	hammer := func(p *Profile) {
		p.Ranks, p.Bytes, p.Elements, p.Calls, p.Hot, p.Burst, p.Phases = 2, 60, 4, 5, 95, 30, 8
	}
	noCMA := []string{"GOMPIRMA_NO_CMA=1"}
	all := []named{
		{"two", with(func(p *Profile) { p.Ranks = 2 }), nil},
		{"mixed", with(func(p *Profile) { p.Mixed = true }), nil},
		{"four", with(func(p *Profile) { p.Ranks, p.Mixed = 4, true }), nil},
		{"no-cma", with(func(p *Profile) { p.Kind, p.Mixed = "create", true }), noCMA},
		{"dynamic", with(func(p *Profile) { p.Kind = "dynamic" }), nil},
		{"dynamic-no-cma", with(func(p *Profile) { p.Kind, p.Ranks = "dynamic", 2 }), noCMA},
		{"strange", with(func(p *Profile) { p.Strange, p.Mixed = true, true }), nil},
		{"strange-no-cma", with(func(p *Profile) { p.Strange, p.Kind = true, "create" }), noCMA},
		{"contended", with(func(p *Profile) {
			p.Ranks, p.Bytes, p.Elements, p.Calls, p.Hot = 4, 80, 6, 12,
				90
		}), nil},
		{"contended-agent", with(func(
			p *Profile) {
			p.Kind, p.Bytes, p.Elements, p.Calls, p.Hot, p.Mixed = "create", 80, 6, 12, 90, true
		}), noCMA},
		{"contended-dynamic", with(func(
			p *Profile) {
			p.Kind, p.Bytes, p.Elements, p.Calls, p.Hot, p.Ranks = "dynamic", 80, 6, 12, 90, 4
		}), nil},
		{"hammer", with(hammer), nil},
		{"hammer-three", with(hammer, func(p *Profile) { p.Ranks, p.Mixed = 3, true }), nil},
		{"hammer-agent", with(hammer, func(p *Profile) { p.Kind = "create" }), noCMA},
		{"hammer-bulk", with(hammer, func(p *Profile) { p.Bytes, p.Elements = 3000, 300 }), nil},
		{"six", with(func(p *Profile) { p.Ranks, p.Mixed = 6, true }), nil},
		{"six-no-cma", with(func(p *Profile) { p.Ranks, p.Mixed = 6, true }), noCMA},
		{"large", with(func(p *Profile) {
			p.Bytes, p.Elements, p.Phases, p.Windows, p.Hot = 60000, 5000, 2, 1,
				90
		}), nil},
		{"large-no-cma", with(func(p *Profile) {
			p.Bytes, p.Elements, p.Phases, p.Windows, p.Hot, p.Kind, p.Ranks = 60000, 5000, 2, 1, 90,
				"create", 2
		}), noCMA},
		{"in-place", with(func(p *Profile) {
			p.Kind, p.Bytes, p.Elements, p.Windows, p.Hot = "create", 14000,
				400, 1, 60
		}), nil},
		{"in-place-dynamic", with(func(
			p *Profile) {
			p.Kind, p.Bytes, p.Elements, p.Mixed = "dynamic", 12000, 400, true
		}), noCMA},
		{"five-deep", with(func(p *Profile) { p.Ranks, p.Depth, p.Bytes = 5, 5, 2000 }), nil},
	}
	for i := range all {
		if os.Getenv("GOMPIRMA_MODEL_PLAIN") != "" {
			all[i].Plain = true
		}
		all[i].Apart = cmp.Or(os.Getenv("GOMPIRMA_NODES"), "1") != "1"
		if envMPI != "" { // leave out what other MPI libraries do incorrectly or need not support
			all[i].Reference, all[i].Strange, all[i].Mixed = true, false, false
		}
	}
	return all
}

// TestModelItself checks the checker with simulated runs (Execute). The checker must accept the outputs of these runs,
// and must reject an output in which one byte was changed.
func TestModelItself(t *testing.T) {
	for _, profile := range profiles() {
		t.Run(profile.name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(1, 2))
			calls, most, shared := 0, 0, 0
			for seed := range uint64(6) {
				p := Generate(seed, profile.Profile)
				calls += len(p.Calls())
				most += profile.Ranks * len(p.Phases) * profile.Calls
				out := Execute(p, r)
				failure, undecided := Check(p, out)
				require.Nil(t, failure, "seed %d: %v\n%v", seed, failure, p)
				require.Zero(t, undecided, "seed %d", seed)
				shared += sharedElements(p)
				for range 3 {
					what := damage(p, out, r)
					failure, undecided := Check(p, out)
					require.True(t, failure != nil || what == "" || undecided > 0,
						"seed %d: the checker accepted a changed byte: %s\n%v", seed, what, p)
					out = Execute(p, r)
				}
			}
			require.Greater(t, calls, most/5, "the programs contain too few calls")
			require.Greater(t, shared, 5, "too few elements into which several origins accumulate")
		})
	}
}

// sharedElements returns the number of elements into which several origins accumulate concurrently.
func sharedElements(p *Program) int {
	n := 0
	for _, ph := range p.Phases {
		c := &checker{p: p, ph: ph}
		for _, m := range p.Windows[ph.Win].Members {
			c.memory = append(c.memory, m.Init)
		}
		c.findOwners()
		for _, owners := range c.owners {
			for _, o := range owners {
				n += int(truth(o < 0))
			}
		}
	}
	return n
}

// damage changes one random byte of an output and returns its location as text. It returns "" if there is no byte, or
// if the checker accepts any value of the byte.
func damage(p *Program, out *Output, r *rand.Rand) string {
	i := r.IntN(len(p.Phases))
	ph := p.Phases[i]
	rank := r.IntN(p.N)
	where, what := out.Memory[i][rank], "memory"
	if r.IntN(2) == 0 {
		where, what = out.Results[i][rank], "result"
	}
	if len(where) == 0 {
		return ""
	}
	at := r.IntN(len(where))
	where[at] ^= 1 << r.IntN(8)
	if what == "memory" {
		// Give up if the changed byte is padding of a long double, because the checker accepts any value there.
		for _, actions := range ph.Ranks {
			for _, a := range actions {
				loose := false
				if a.ID != 0 && a.Target == rank {
					a.TType.each(a.TCount, func(off int, b *Basic) {
						for _, s := range b.loose() {
							loose = loose || a.At+off+s.from <= at && at < a.At+off+s.to
						}
					})
				}
				if loose {
					return ""
				}
			}
		}
	} else {
		for _, a := range ph.Ranks[rank] {
			if a.Result == nil {
				continue
			}
			if at < a.Times*a.Result.Size {
				at %= a.Result.Size
				for _, off := range offsets(a.RType, a.RCount, a.Result.Pos) {
					for _, s := range a.RType.elems[0].basic.loose() {
						if off+s.from <= at && at < off+s.to {
							return ""
						}
					}
				}
				break
			}
			at -= a.Times * a.Result.Size
		}
	}
	return fmt.Sprintf("byte %d of rank %d's %s in phase %d", at, rank, what, i)
}

const top = "../../.."

// launcher compiles interp.c for the MPI library under test, and returns its Launcher.
func launcher(t *testing.T) *Launcher {
	l := &Launcher{Interp: filepath.Join(t.TempDir(), "interp"), Timeout: 60 * time.Second}
	var cc string
	switch envMPI {
	case "":
		build := harness.Built(t, top)
		cc, l.Command = filepath.Join(build, "bin/gompicc"), []string{filepath.Join(build, "bin/gompirun"),
			"-n"}
	case "mpich":
		l.Timeout = 4 * time.Minute // MPICH's ranks busy-wait
		cc, l.Command = "mpicc.mpich", []string{"mpiexec.mpich", "-n"}
	case "openmpi":
		cc, l.Command = "mpicc.openmpi", []string{"mpirun.openmpi", "--oversubscribe", "-n"}
	default:
		t.Fatalf("GOMPIRMA_MODEL_MPI=%s is neither mpich nor openmpi", envMPI)
	}
	harness.Output(t, exec.Command(cc, "-O1", "-g", "-o", l.Interp, "interp/interp.c"))
	return l
}

// batch is the number of programs in one job. batches is the number of jobs of each profile if GOMPIRMA_SOAK is not
// set; with -short only one job runs.
const batch, batches = 12, 5

// some returns the programs of one job: one program of the profile for each seed that the function `seed` returns.
func some(profile named, seed func(i int) uint64) []*Program {
	n := batch
	if profile.Bytes > 10000 || profile.Burst > 0 {
		n /= 2
	}
	programs := make([]*Program, n)
	for i := range programs {
		programs[i] = Generate(seed(i), profile.Profile)
	}
	return programs
}

func TestModel(t *testing.T) {
	l := launcher(t)
	if envSeed != "" {
		repeat(t, l)
		return
	}
	if envSoak != "" {
		soak(t, l)
		return
	}
	for i, profile := range profiles() {
		t.Run(profile.name, func(t *testing.T) {
			for job := range batches {
				if t.Failed() || job > 0 && testing.Short() {
					return
				}
				runAll(t, l, profile, some(profile,
					func(k int) uint64 { return uint64(1000*(i+1) + batch*job + k) }))
			}
		})
	}
}

// soak runs programs of random seeds until the time of GOMPIRMA_SOAK is over or a program fails.
func soak(t *testing.T, l *Launcher) {
	length, err := time.ParseDuration(envSoak)
	require.NoError(t, err, "GOMPIRMA_SOAK")
	end := time.Now().Add(length)
	programs, calls, said := 0, 0, time.Now()
	for time.Now().Before(end) && !t.Failed() {
		for _, profile := range profiles() {
			if !time.Now().Before(end) || t.Failed() || envProfile != "" && profile.name != envProfile {
				continue
			}
			list := some(profile, func(int) uint64 { return uint64(rand.Uint32()) })
			programs += len(list)
			for _, p := range list {
				calls += len(p.Calls())
			}
			runAll(t, l, profile, list)
			if time.Since(said) > time.Minute {
				said = time.Now()
				t.Logf("%d programs so far", programs)
			}
		}
	}
	t.Logf("%d programs with %d calls", programs, calls)
}

// repeat runs the program of GOMPIRMA_MODEL_SEED and GOMPIRMA_MODEL_PROFILE.
func repeat(t *testing.T, l *Launcher) {
	seed, err := strconv.ParseUint(envSeed, 10, 64)
	require.NoError(t, err, "GOMPIRMA_MODEL_SEED")
	times := 1
	if envTimes != "" {
		times, err = strconv.Atoi(envTimes)
		require.NoError(t, err, "GOMPIRMA_MODEL_TIMES")
	}
	for _, profile := range profiles() {
		if envProfile != profile.name && envProfile != "" {
			continue
		}
		p := Generate(seed, profile.Profile)
		if envCalls != "" {
			ids := map[int]bool{}
			for _, word := range strings.Split(envCalls, ",") {
				id, err := strconv.Atoi(word)
				require.NoError(t, err, "GOMPIRMA_MODEL_CALLS")
				ids[id] = true
			}
			p = p.Only(ids)
		}
		if envPrint != "" {
			t.Logf("%v", p)
		}
		l.Env = profile.env
		for i := range times {
			require.NoError(t, l.Try(p), "profile %s, seed %d, run %d", profile.name, seed, i)
		}
	}
}

// runAll runs the programs in one job and checks their outputs. If a program fails, runAll shrinks it and reports how
// to repeat the failure.
func runAll(t *testing.T, l *Launcher, profile named, programs []*Program) {
	l.Env = profile.env
	outputs, err := l.Run(programs)
	checks := make([]error, len(outputs))
	undecided := make([]int, len(outputs))
	var wait sync.WaitGroup
	for i, out := range outputs {
		wait.Add(1)
		go func() {
			defer wait.Done()
			if failure, n := Check(programs[i], out); failure != nil {
				checks[i] = failure
			} else {
				undecided[i] = n
			}
		}()
	}
	wait.Wait()
	for i, failure := range checks {
		if failure != nil {
			report(t, l, profile, programs[i], failure)
			return
		}
		if undecided[i] > 0 {
			t.Logf("profile %s, seed %d: the histories of %d elements are too long to check", profile.name,
				programs[i].Seed, undecided[i])
		}
	}
	if err != nil {
		i := min(len(outputs), len(programs)-1)
		report(t, l, profile, programs[i], err)
	}
}

func report(t *testing.T, l *Launcher, profile named, p *Program, failure error) {
	last := failure
	// Try several times, because a failure may depend on timing.
	fails := func(q *Program) bool {
		for range 4 {
			if err := l.Try(q); err != nil {
				last = err
				return true
			}
		}
		return false
	}
	command := fmt.Sprintf("GOMPIRMA_MODEL_PROFILE=%s GOMPIRMA_MODEL_SEED=%d", profile.name, p.Seed)
	if !fails(p) {
		t.Errorf("%v\nThe program alone did not fail again. To repeat: %s "+
			"GOMPIRMA_MODEL_TIMES=100 go test ./tests/go/model -run TestModel$ -v",
			failure, command)
		return
	}
	small, keep := Shrink(p, fails, time.Now().Add(20*time.Second))
	t.Errorf("%v\nthe smallest program that fails:\n%v\n%v\nTo repeat: %s GOMPIRMA_MODEL_CALLS=%s go test "+
		"./tests/go/model -run TestModel$ -v", failure, small, last,
		command, Numbers(keep))
}
