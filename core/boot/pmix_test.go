package boot

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
	"gompirma/core/mpierr"
)

// fakeServer is a launcher that speaks PMIx: values that were put before a fence are visible after it.
type fakeServer struct {
	size     int
	universe int
	mu       sync.Mutex
	put      map[string]string
	seen     map[string]string
	arrived  int
	fence    chan struct{}
	lost     chan struct{}
	aborted  []int
}

// fakePMIx is libpmix in one process of fakeServer.
type fakePMIx struct {
	*fakeServer
	rank   int
	broken error // error of Init
	silent bool  // does not answer an Abort
}

func (f *fakePMIx) Init() (int, error) { return f.rank, f.broken }

func (f *fakePMIx) Number(key string, ofJob bool) (int, bool) {
	switch {
	case key == pmixJobSize && ofJob && f.size > 0:
		return f.size, true
	case key == pmixUniverse && ofJob && f.universe > 0:
		return f.universe, true
	case key == pmixAppNum && !ofJob:
		return 3, true
	}
	return 0, false
}

func (f *fakePMIx) Put(key, value string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.put[fmt.Sprint(f.rank, " ", key)] = value
	return nil
}

func (f *fakePMIx) Get(rank int, key string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	value, ok := f.seen[fmt.Sprint(rank, " ", key)]
	if !ok {
		return "", errors.New("PMIx_Get: NOT-FOUND (-46)")
	}
	return value, nil
}

func (f *fakePMIx) Fence() error {
	f.mu.Lock()
	fence := f.fence
	if f.arrived++; f.arrived == f.size {
		for k, v := range f.put {
			f.seen[k] = v
		}
		f.arrived, f.fence = 0, make(chan struct{})
		close(fence)
	}
	f.mu.Unlock()
	<-fence
	return nil
}

func (f *fakePMIx) Abort(status int, text string) error {
	if f.silent {
		select {}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.aborted = append(f.aborted, status)
	return nil
}

func (f *fakePMIx) Finalize() error       { return nil }
func (f *fakePMIx) Lost() <-chan struct{} { return f.lost }

// underPMIx makes Open load libpmix with the function `load` during one test.
func underPMIx(t *testing.T, load func() (PMIx, error)) {
	before := LoadPMIx
	LoadPMIx = load
	t.Cleanup(func() { LoadPMIx = before })
}

func pmixJobOf(t *testing.T, n int) ([]Client, *fakeServer) {
	s := &fakeServer{size: n, put: map[string]string{}, seen: map[string]string{}, fence: make(chan struct{}),
		lost: make(chan struct{})}
	clients := make([]Client, n)
	for i := range clients {
		underPMIx(t, func() (PMIx, error) { return &fakePMIx{fakeServer: s, rank: i}, nil })
		var err error
		clients[i], err = open(environment(map[string]string{"PMIX_RANK": strconv.Itoa(i)}))
		require.NoError(t, err)
	}
	return clients, s
}

func TestPMIx(t *testing.T) {
	clients, s := pmixJobOf(t, 5)
	each(t, clients, func(c Client) error {
		for i, v := range samples() {
			if err := c.Put(fmt.Sprintf("v%d", i), v+strconv.Itoa(c.Rank())); err != nil {
				return err
			}
		}
		if err := c.Fence(); err != nil {
			return err
		}
		for i, v := range samples() {
			for r := range clients {
				if got, err := c.Get(r, fmt.Sprintf("v%d", i)); err != nil || got != v+strconv.Itoa(r) {
					return fmt.Errorf("sample %d of rank %d: %q, %v", i, r, got, err)
				}
			}
		}
		all, err := AllGather(c, "all", strings.Repeat("\xfe", 300*c.Rank()))
		if err != nil {
			return err
		}
		for r, v := range all {
			if v != strings.Repeat("\xfe", 300*r) {
				return fmt.Errorf("AllGather returned %d bytes of rank %d, which differ from the "+
					"bytes that it passed", len(v), r)
			}
		}
		places, err := nodes(c, fmt.Sprint("host", c.Rank()/2), fmt.Sprint("name", c.Rank()/2))
		if err != nil || places.NodeCount != 3 || places.Host(4) != "name2" {
			return fmt.Errorf("%+v, %v", places, err)
		}
		return nil
	})
	c := clients[2]
	require.Equal(t, 2, c.Rank())
	require.Equal(t, 5, c.Size())
	require.Equal(t, 5, c.UniverseSize(), "not less than there are processes")
	s.universe = 3
	require.Equal(t, 5, c.UniverseSize())
	s.universe = 8
	require.Equal(t, 8, c.UniverseSize())
	number, ok := c.AppNum()
	require.True(t, ok)
	require.Equal(t, 3, number)
	_, handed := c.Control()
	require.False(t, handed)
	require.Error(t, c.Put("a b", ""))
	_, err := c.Get(1, "absent")
	require.ErrorContains(t, err, "NOT-FOUND")
	require.Equal(t, int32(abi.MPI_ERR_OTHER), mpierr.ClassOf(err))
	require.NoError(t, c.Abort(7, -1))
	require.Equal(t, []int{7}, s.aborted)
}

func TestPMIxLauncherDies(t *testing.T) {
	clients, s := pmixJobOf(t, 2)
	time.AfterFunc(20*time.Millisecond, func() { close(s.lost) })
	err := clients[0].Fence()
	require.ErrorContains(t, err, "the launcher has ended")
	require.Equal(t, int32(abi.MPI_ERR_OTHER), mpierr.ClassOf(err))
	<-clients[1].LauncherLost()
}

func TestPMIxRefused(t *testing.T) {
	env := map[string]string{"PMIX_RANK": "1"}
	for says, load := range map[string]func() (PMIx, error){
		"libpmix2":       func() (PMIx, error) { return nil, errors.New("libpmix.so.2: cannot open") },
		"UNREACHABLE":    func() (PMIx, error) { return &fakePMIx{broken: errors.New("UNREACHABLE")}, nil },
		"rank 1 of 1":    func() (PMIx, error) { return &fakePMIx{&fakeServer{size: 1}, 1, nil, false}, nil },
		"reports no job": func() (PMIx, error) { return &fakePMIx{&fakeServer{}, 0, nil, false}, nil },
		"use gompirun":   nil,
	} {
		underPMIx(t, load)
		_, err := open(environment(env))
		require.ErrorContains(t, err, says)
		require.ErrorContains(t, err, "PMIX_RANK=1")
		require.Equal(t, int32(abi.MPI_ERR_OTHER), mpierr.ClassOf(err))
	}
}

// Checks that the innermost launcher is used if the variables of several nested launchers are set.
func TestLauncherSelection(t *testing.T) {
	s := &fakeServer{size: 1}
	underPMIx(t, func() (PMIx, error) { return &fakePMIx{fakeServer: s}, nil })
	closed, err := syscall.Open("/dev/null", syscall.O_RDONLY, 0)
	require.NoError(t, err)
	defer syscall.Close(closed)
	// In the first case, a process of a PMI-1 launcher has started Open MPI's mpirun, which started this process.
	// In the second case, a process of mpirun has started a PMI-1 launcher, which started this process.
	c, err := open(environment(map[string]string{"PMIX_RANK": "0", "PMI_FD": strconv.Itoa(closed), "PMI_RANK": "3",
		"PMI_SIZE": "4"}))
	require.NoError(t, err)
	require.IsType(t, &pmixJob{}, c)
	clients := openJob(t, 2, map[string]string{"PMIX_RANK": "0", "SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": "0"})
	require.IsType(t, &launched{}, clients[1])
	// PMI_FD alone, but it is not a socket.
	_, err = open(environment(map[string]string{"PMI_FD": strconv.Itoa(closed), "PMI_RANK": "3", "PMI_SIZE": "4"}))
	require.ErrorContains(t, err, "PMI_FD")
}

func TestLonelyTasks(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		says string
	}{
		{map[string]string{"SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "0"}, "srun started 4 tasks"},
		{map[string]string{"SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "1"}, ""},
		{map[string]string{"SLURM_STEP_NUM_TASKS": "1", "SLURM_PROCID": "0"}, ""},
		{map[string]string{"SLURM_NTASKS": "4", "SLURM_PROCID": "0"}, ""}, // a batch script
		{nil, ""},
	} {
		var out strings.Builder
		warnLonely(environment(c.env), &out)
		if c.says == "" {
			require.Empty(t, out.String(), "%v", c.env)
		} else {
			require.Contains(t, out.String(), c.says)
			require.Equal(t, 1, strings.Count(out.String(), "\n"))
		}
	}
}
