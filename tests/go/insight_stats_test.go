package gotest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/tests/go/harness"
)

// statsOutput is the part of the output of --stats=FILE that the tests use.
type statsOutput struct {
	Seconds, Mpi, Imbalance float64
	Ranks                   []struct {
		Rank, Threads int
		Job           int
		Seconds       float64
		MpiSeconds    float64 `json:"mpi_seconds"`
		Waiting       float64 `json:"waiting_seconds"`
		Finalized     bool
		NotCounted    int `json:"threads_not_counted"`
	}
	Functions []struct {
		Name         string
		Calls, Bytes int64
		Seconds      float64
		Share        float64
		ByRank       []float64 `json:"seconds_by_rank"`
	}
	Windows []struct {
		Name                     string
		Leader, Members, Ordinal int
		Uses                     map[string]struct {
			Calls, Bytes int64
			Seconds      float64
			Ways         map[string]struct{ Calls, Bytes int64 }
		}
	}
	Costs    []string
	Accesses []struct {
		Kind         string
		Calls, Bytes int64
		Seconds      float64
		Bandwidth    float64 `json:"bytes_per_second"`
	} `json:"file_accesses"`
	Files struct {
		Calls, Bytes, Writes int64
		WrittenBytes         int64 `json:"written_bytes"`
	} `json:"aggregated_file_writes"`
}

// calls returns the number of calls and of bytes of each function.
func (c *statsOutput) calls() map[string][2]int64 {
	all := map[string][2]int64{}
	for _, f := range c.Functions {
		all[f.Name] = [2]int64{f.Calls, f.Bytes}
	}
	return all
}

// statistics runs a job with --stats=FILE and returns the contents of the file.
func statistics(t *testing.T, env []string, wantStatus int, args ...string) *statsOutput {
	t.Helper()
	file := filepath.Join(t.TempDir(), "stats.json")
	l := prepare(t, append([]string{"--stats=" + file}, args...)...)
	l.Cmd.Env = append(l.Cmd.Env, env...)
	require.Equal(t, wantStatus, l.run(t), "%s%s", l.Out.String(), l.Err.String())
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	var c statsOutput
	require.NoError(t, json.Unmarshal(content, &c), "%s", content)
	return &c
}

// fileProgram writes a file whose blocks of 512 bytes belong to its ranks in turn.
const fileProgram = `
#include <mpi.h>
#include <string.h>
int main(int argc, char **argv)
{
	static char data[64 << 10];
	int rank, size;
	MPI_File file;
	MPI_Datatype blocks;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Type_vector(sizeof data / 512, 512, 512 * size, MPI_BYTE, &blocks);
	MPI_Type_commit(&blocks);
	MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
		      MPI_INFO_NULL, &file);
	MPI_File_set_view(file, 512 * rank, MPI_BYTE, blocks, "native", MPI_INFO_NULL);
	for (int i = 0; i < 3; i++)
		MPI_File_write_at_all(file, 0, data, sizeof data, MPI_BYTE, MPI_STATUS_IGNORE);
	MPI_File_write_at(file, 0, data, sizeof data, MPI_BYTE, MPI_STATUS_IGNORE);
	MPI_File_read_at_all_begin(file, 0, data, sizeof data, MPI_BYTE);
	MPI_File_read_at_all_end(file, data, MPI_STATUS_IGNORE);
	MPI_File_close(&file);
	MPI_Type_free(&blocks);
	MPI_Finalize();
	return 0;
}
`

// TestStatsFiles checks that --stats counts the collective writes that aggregators execute, and no other writes, and
// that it sums the calls that access files.
func TestStatsFiles(t *testing.T) {
	t.Parallel()
	program := compile(t, fileProgram)
	for _, nodes := range []string{"1", "2"} {
		s := statistics(t, nil, 0, "--nodes", nodes, "-n", "2", program, filepath.Join(t.TempDir(), "file"))
		require.Equal(t, int64(6), s.Files.Calls)
		require.Equal(t, int64(6*64<<10), s.Files.Bytes)
		require.Equal(t, s.Files.Bytes, s.Files.WrittenBytes)
		require.Positive(t, s.Files.Writes)
		require.Less(t, s.Files.Writes, int64(20))
		require.Len(t, s.Accesses, 2)
		read, write := s.Accesses[0], s.Accesses[1]
		require.Equal(t, "read write", read.Kind+" "+write.Kind)
		require.Equal(t, []int64{2, 2 * 64 << 10}, []int64{read.Calls, read.Bytes})
		require.Equal(t, []int64{8, 8 * 64 << 10}, []int64{write.Calls, write.Bytes})
		// the longest time of a rank is between the mean and the sum of the times of the two ranks
		require.GreaterOrEqual(t, write.Bandwidth, 0.99*float64(write.Bytes)/write.Seconds)
		require.LessOrEqual(t, write.Bandwidth, 2.01*float64(write.Bytes)/write.Seconds)
	}
	_, _, stderr := gompirun(t, "--stats", "-n", "2", program, filepath.Join(t.TempDir(), "file"))
	require.Regexp(t, `\n    write +8 +512 KiB +\S+ \S+ +[0-9.]+ .iB/s\n`, stderr)
	require.Contains(t, stderr, "Collective file writes executed by aggregators: 6 calls, 384 KiB; written in ")
}

const countedProgram = `
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int rank, n, data[64] = {0}, counts[4] = {1, 2, 3, 4}, displs[4] = {0, 1, 3, 6}, flag;
	double *base, x[8] = {0}, y[8];
	long one = 1, old;
	MPI_Win win, second;
	MPI_Datatype pair, triple;
	MPI_Request request;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	MPI_Win_allocate(800, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
	MPI_Win_set_name(win, "halo");
	MPI_Win_create(base, 800, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &second);
	MPI_Type_contiguous(2, MPI_DOUBLE, &pair);
	MPI_Type_commit(&pair);
	MPI_Win_fence(0, win);
	for (int i = 0; i < 100; i++)
		MPI_Put(x, 2, MPI_DOUBLE, (rank + 1) % n, 0, 1, pair, win);
	MPI_Win_fence(0, win);
	MPI_Type_free(&pair);
	MPI_Type_contiguous(3, MPI_INT, &triple);
	MPI_Type_commit(&triple);
	MPI_Win_lock_all(0, second);
	for (int i = 0; i < 50; i++) {
		MPI_Get(data, 1, triple, (rank + 1) % n, 10, 1, triple, second);
		MPI_Rput(y, 8, MPI_DOUBLE, rank, 50, 8, MPI_DOUBLE, second, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		MPI_Fetch_and_op(&one, &old, MPI_LONG, 0, 90, MPI_SUM, second);
		MPI_Win_flush_all(second);
	}
	MPI_Accumulate(x, 3, MPI_DOUBLE, 0, 20, 3, MPI_DOUBLE, MPI_SUM, second);
	MPI_Win_unlock_all(second);
	MPI_Sendrecv(data, 5, MPI_INT, (rank + 1) % n, 1, data + 10, 5, MPI_INT, (rank + n - 1) % n, 1, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
	MPI_Bcast(data, 7, MPI_INT, 0, MPI_COMM_WORLD);
	MPI_Allreduce(MPI_IN_PLACE, x, 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	MPI_Alltoall(data, 2, MPI_INT, data + 20, 2, MPI_INT, MPI_COMM_WORLD);
	MPI_Alltoallv(data, counts, displs, MPI_INT, data + 20, (int[]){rank + 1, rank + 1, rank + 1, rank + 1},
		      (int[]){0, 4, 8, 12}, MPI_INT, MPI_COMM_WORLD);
	MPI_Gather(data, 3, MPI_INT, data + 20, 3, MPI_INT, 0, MPI_COMM_WORLD);
	MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
	if (rank == 0)
		usleep(100000);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_free(&second);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
`

// TestInsightStats checks that --stats counts calls and bytes exactly.
func TestInsightStats(t *testing.T) {
	program := compile(t, countedProgram)
	for name, args := range map[string][]string{
		"program": {"-n", "4", program}, "shell": {"-n", "4", "sh", "-c", program + "; true"},
		"nodes": {"-n", "4", "--nodes", "2", program},
	} {
		t.Run(name, func(t *testing.T) {
			c := statistics(t, nil, 0, args...)
			require.Equal(t, map[string][2]int64{
				"MPI_Init": {4, 0}, "MPI_Comm_rank": {4, 0}, "MPI_Comm_size": {4, 0},
				"MPI_Win_allocate": {4, 0}, "MPI_Win_set_name": {4, 0}, "MPI_Win_create": {4, 0},
				"MPI_Type_contiguous": {8, 0}, "MPI_Type_commit": {8, 0}, "MPI_Type_free": {4, 0},
				"MPI_Win_fence": {8, 0}, "MPI_Put": {400, 400 * 16}, "MPI_Win_lock_all": {4, 0},
				"MPI_Get": {200, 200 * 12}, "MPI_Rput": {200, 200 * 64}, "MPI_Wait": {200, 0},
				"MPI_Fetch_and_op": {200, 200 * 8}, "MPI_Win_flush_all": {200, 0},
				"MPI_Accumulate": {4, 4 * 24}, "MPI_Win_unlock_all": {4, 0},
				"MPI_Sendrecv": {4, 4 * 20}, "MPI_Bcast": {4, 4 * 28}, "MPI_Allreduce": {4, 4 * 64},
				"MPI_Alltoall": {4, 4 * 4 * 8}, "MPI_Alltoallv": {4, 4 * 10 * 4},
				"MPI_Gather": {4, 4 * 12}, "MPI_Iprobe": {4, 0}, "MPI_Barrier": {4, 0},
				"MPI_Win_free": {8, 0}, "MPI_Finalize": {4, 0},
			}, c.calls())
			require.Len(t, c.Ranks, 4)
			for i, r := range c.Ranks {
				require.Equal(t, []int{i, 1}, []int{r.Rank, r.Threads})
				require.True(t, r.Finalized)
				require.Positive(t, r.MpiSeconds)
				require.Positive(t, r.Waiting)
				require.GreaterOrEqual(t, r.Seconds, 0.1)
			}
			require.Len(t, c.Windows, 2)
			for i, want := range []struct {
				name string
				uses map[string][2]int64
			}{
				{"halo", map[string][2]int64{"put": {400, 400 * 16}, "fence": {8, 0}}},
				{"", map[string][2]int64{"get": {200, 200 * 12}, "put": {200, 200 * 64},
					"fetch_and_op": {200, 200 * 8}, "accumulate": {4, 4 * 24}, "lock": {4, 0},
					"unlock": {4, 0}, "flush": {200, 0}}},
			} {
				w := c.Windows[i]
				require.Equal(t, want.name, w.Name)
				require.Equal(t, []int{0, 4, i}, []int{w.Leader, w.Members, w.Ordinal})
				got := map[string][2]int64{}
				for use, u := range w.Uses {
					got[use] = [2]int64{u.Calls, u.Bytes}
				}
				require.Equal(t, want.uses, got)
			}
			// In the program, rank 0 sleeps a tenth of a second while the other ranks wait for it.
			require.Len(t, c.Costs, 3)
			require.Regexp(t,
				`(?m)^rank [123] waited [0-9.]+ % of the run in MPI_Barrier for rank 0, which spent `,
				strings.Join(c.Costs, "\n"))
			require.Positive(t, c.Imbalance)
		})
	}
}

// TestInsightStatsSameHandle checks that bytes are counted correctly if a datatype gets the handle of a freed datatype
// of another size. gompirma itself reuses a handle only after many others. So a second tool simulates the reuse: it
// returns the same handle for all contiguous types.
func TestInsightStatsSameHandle(t *testing.T) {
	dir := t.TempDir()
	file, library := filepath.Join(dir, "tool.c"), filepath.Join(dir, "libtool.so")
	require.NoError(t, os.WriteFile(file, []byte(`
#include <mpi.h>
static MPI_Datatype one;
static MPI_Count size;
int MPI_Type_contiguous(int n, MPI_Datatype type, MPI_Datatype *made)
{
	int element;
	PMPI_Type_size(type, &element);
	size = n * element;
	if (!one)
		PMPI_Type_contiguous(n, type, &one);
	*made = one;
	return MPI_SUCCESS;
}
int MPI_Type_free(MPI_Datatype *type)
{
	*type = MPI_DATATYPE_NULL;
	return MPI_SUCCESS;
}
int PMPI_Type_size_c(MPI_Datatype type, MPI_Count *bytes)
{
	int element = 0;
	if (type != one)
		PMPI_Type_size(type, &element);
	*bytes = type == one ? size : element;
	return MPI_SUCCESS;
}
`), 0o644))
	runTool(t, "gompicc", "-shared", "-fPIC", "-o", library, file)
	c := statistics(t, []string{"LD_PRELOAD=" + library}, 0, "-n", "2", compile(t, countedProgram))
	require.Equal(t, [2]int64{200, 200 * 16}, c.calls()["MPI_Put"])
	require.Equal(t, [2]int64{100, 100 * 12}, c.calls()["MPI_Get"])
}

const pathsProgram = `
#include <mpi.h>
#include <stdlib.h>
enum { MANY = 100000 };
static int data[MANY];
static void operate(MPI_Win win, int target)
{
	int one = 1, old;
	MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
	for (int i = 0; i < 10; i++) {
		MPI_Put(&one, 1, MPI_INT, target, 1, 1, MPI_INT, win);
		MPI_Get(data, MANY, MPI_INT, target, 0, MANY, MPI_INT, win);
		MPI_Fetch_and_op(&one, &old, MPI_INT, target, 0, MPI_SUM, win);
		MPI_Put(&one, 0, MPI_INT, target, 1, 0, MPI_INT, win);
	}
	MPI_Win_unlock(target, win);
}
int main(int argc, char **argv)
{
	int rank, windows = atoi(argv[1]), *memory = malloc(MANY * sizeof(int)), *base;
	MPI_Win allocated, created[100];
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_allocate(MANY * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &allocated);
	MPI_Win_set_name(allocated, "allocated");
	operate(allocated, 1 - rank);
	for (int i = 0; i < windows; i++) {
		MPI_Win_create(memory, MANY * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &created[i]);
		MPI_Win_set_name(created[i], "created");
		operate(created[i], 1 - rank);
	}
	for (int i = 0; i < windows; i++)
		MPI_Win_free(&created[i]);
	MPI_Win_free(&allocated);
	MPI_Finalize();
	return 0;
}
`

// TestInsightStatsPaths checks that operations are counted by the path that they use.
func TestInsightStatsPaths(t *testing.T) {
	program := compile(t, pathsProgram)
	const large = 20 * 4 * 100000
	check := func(c *statsOutput, window int, put, get, fetch []string) {
		t.Helper()
		for name, want := range map[string]struct {
			ways         []string // expected paths; operations without data use none
			calls, bytes int64
		}{"put": {put, 20, 80}, "get": {get, 20, large}, "fetch_and_op": {fetch, 20, 80}} {
			calls, bytes := int64(0), int64(0)
			for way, n := range c.Windows[window].Uses[name].Ways {
				if way == "nothing" {
					require.Equal(t, "put", name)
					require.EqualValues(t, 20, n.Calls)
					require.Zero(t, n.Bytes)
					continue
				}
				require.Contains(t, want.ways, way, name)
				calls += n.Calls
				bytes += n.Bytes
			}
			require.Equal(t, []int64{want.calls, want.bytes}, []int64{calls, bytes}, name)
		}
	}
	direct, network := []string{"direct"}, []string{"network"}
	ring, either := []string{"ring"}, []string{"ring", "cma"}
	c := statistics(t, nil, 0, "-n", "2", program, "1")
	check(c, 0, direct, direct, direct)
	check(c, 1, either, []string{"cma"}, ring)
	c = statistics(t, nil, 0, "-n", "2", "-x", "GOMPIRMA_NO_CMA=1", program, "1")
	check(c, 0, direct, direct, direct)
	check(c, 1, ring, ring, ring)
	c = statistics(t, nil, 0, "-n", "2", "--nodes", "2", program, "1")
	check(c, 0, network, network, network)
	check(c, 1, network, network, network)
	c = statistics(t, nil, 0, "-n", "2", program, "64") // creates 65 windows, but only 63 have separate counters
	check(c, 62, either, []string{"cma"}, ring)
	others := c.Windows[63].Uses["get"]
	require.Equal(t, "others", c.Windows[63].Name)
	require.EqualValues(t, 40, others.Calls)
	require.EqualValues(t, 40, others.Ways["cma"].Calls)

	_, _, text := gompirun(t, "-n", "2", "--stats", "--nodes", "2", program, "1")
	require.Regexp(t, `(?m)^  window 'created' +count +bytes +waited
    put +network +20 +80 B +-
    put +nothing +20 +- +-
    get +network +20 +7.63 MiB +-
    fetch_and_op +network +20 +80 B +-
    lock +2 `, text)
}

// TestInsightStatsTable checks the table that --stats prints, and that the program's output is unchanged.
func TestInsightStatsTable(t *testing.T) {
	program := compile(t, countedProgram)
	l := prepare(t, "--stats", "-n", "2", program)
	require.Zero(t, l.run(t), l.Err.String())
	require.Empty(t, l.Out.String())
	form := regexp.MustCompile(`(?s)^gompirun: 2 ranks, \S+ m?s, \S+ % of the time in MPI\n\n` +
		`  call +count +bytes +time +share\n.*` +
		`  MPI_Put +200 +3\.1[23] KiB +\S+ .s +\S+ %\n.*` +
		`  window 'halo' +count +bytes +waited\n    put +direct +200 +3\.1[23] KiB +-\n    fence +4 +- +\S+ .s\n\n` +
		`  window 1 of rank 0 \+ 1 rank +count.*    flush +100 +- +\S+ .s\n\n` +
		`  Outside of MPI: from \S+ .s \(rank 1\) to \S+ ms \(rank 0\); imbalance \S+ %\n\n` +
		`  Largest costs:\n  1\. .*\n  2\. .*\n  3\. .*\n$`)
	require.Regexp(t, form, l.Err.String())

	status, _, text := gompirun(t, "--stats", "-n", "2", "true")
	require.Zero(t, status)
	require.Equal(t, "gompirun: --stats: no rank called MPI\n", text)
	status, _, text = gompirun(t, "--stats=/nonexistent/x", "-n", "2", program)
	require.Equal(t, 2, status)
	require.Contains(t, text, "/nonexistent/x")
}

// TestInsightStatsThreads checks that threads are counted separately, including threads that start after others have
// ended. It starts more threads at the same time than the shared memory has counters for.
func TestInsightStatsThreads(t *testing.T) {
	program := compile(t, `
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
static int each, size;
static void *calls(void *unused)
{
	(void)unused;
	int n;
	for (int i = 0; i < each; i++)
		MPI_Type_size(MPI_INT, &n);
	return NULL;
}
static pthread_barrier_t together;
static void *calls_together(void *unused)
{
	MPI_Type_size(MPI_INT, &size);
	pthread_barrier_wait(&together);
	return unused;
}
int main(int argc, char **argv)
{
	int level, threads = atoi(argv[1]);
	pthread_t thread[100];
	each = atoi(argv[2]);
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	for (int round = 0; round < 50; round++) {
		for (int i = 0; i < threads; i++)
			pthread_create(&thread[i], NULL, calls, NULL);
		for (int i = 0; i < threads; i++)
			pthread_join(thread[i], NULL);
	}
	pthread_barrier_init(&together, NULL, 99);
	for (int i = 0; i < 99; i++)
		pthread_create(&thread[i], NULL, calls_together, NULL);
	for (int i = 0; i < 99; i++)
		pthread_join(thread[i], NULL);
	MPI_Finalize();
	return 0;
}`, "-pthread")
	c := statistics(t, nil, 0, "-n", "2", program, "4", "1000")
	require.Equal(t, int64(2*(50*4*1000+63)), c.calls()["MPI_Type_size"][0])
	for _, r := range c.Ranks {
		require.Equal(t, 1+50*4+99, r.Threads)
		require.Equal(t, 36, r.NotCounted)
	}
}

// TestInsightStatsKilled checks that the counts of a killed rank are kept. The job uses --stats and --records together.
func TestInsightStatsKilled(t *testing.T) {
	program := compile(t, `
#include <mpi.h>
#include <signal.h>
#include <unistd.h>
int main(void)
{
	int rank, size;
	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 1000; i++)
		MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 1)
		kill(getpid(), SIGKILL);
	MPI_Recv(&size, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	return 0;
}`)
	records := filepath.Join(t.TempDir(), "records")
	c := statistics(t, nil, 128+9, "--records", records, "-n", "2", program)
	require.Equal(t, int64(2000), c.calls()["MPI_Comm_size"][0])
	require.Equal(t, int64(1), c.calls()["MPI_Recv"][0])
	require.False(t, c.Ranks[1].Finalized)
	content, err := os.ReadFile(records)
	require.NoError(t, err)
	require.Equal(t, 2000, strings.Count(string(content), "MPI_Comm_size("))
}

// TestInsightUnrecorded checks that gompirun names the ranks whose calls it cannot record, because a wrapper of the
// program has replaced LD_PRELOAD, and says what to do.
func TestInsightUnrecorded(t *testing.T) {
	program := compile(t, "#include <mpi.h>\nint main(void) { MPI_Init(0, 0); return MPI_Finalize(); }")
	library := filepath.Join(built(t), "lib/libgompirma-access.so")
	script := `if [ $PMI_RANK = 0 ]; then export LD_PRELOAD=` + library + `; fi; exec ` + program
	for _, option := range []string{"--stats", "--check", "--trace=" + filepath.Join(t.TempDir(), "trace")} {
		status, _, err := gompirun(t, option, "-n", "2", "sh", "-c", script)
		require.Zero(t, status, err)
		require.Contains(t, err, "gompirun: no MPI call of rank 0 was recorded, because the program ")
		require.Contains(t, err, "`gompirun -x LD_PRELOAD=LIBRARY`")
		status, _, err = gompirun(t, option, "-n", "2", "env", "LD_PRELOAD="+library, program)
		require.Zero(t, status, err)
		require.Contains(t, err, "gompirun: no MPI call of ranks 0-1 was recorded")
		require.NotContains(t, err, "no rank called MPI")
		status, _, err = gompirun(t, option, "-x", "LD_PRELOAD="+library, "-n", "2", program)
		require.Zero(t, status, err)
		require.NotContains(t, err, "was recorded")
	}
	_, _, err := gompirun(t, "--stats", "-n", "2", "true")
	require.Equal(t, "gompirun: --stats: no rank called MPI\n", err)
}

// TestInsightErrorsOnce checks that the tool's own calls raise no error, so that the program's error handlers are
// called as often as without the tool.
func TestInsightErrorsOnce(t *testing.T) {
	tests, err := filepath.Abs(filepath.Join(top, "tests/c"))
	require.NoError(t, err)
	source, err := os.ReadFile(filepath.Join(tests, "conformance/errhandler_success.c"))
	require.NoError(t, err)
	program := compile(t, string(source), "-I"+filepath.Join(tests, "conformance"), "-lm")
	for _, what := range []string{"rma", "requests", "objects"} {
		statistics(t, nil, 0, "--records", filepath.Join(t.TempDir(), "r"), "-n", "3", program, what)
	}
}

// TestInsightStandalone checks that rank 0 prints the sums of all ranks if environment variables preload the tool. Then
// neither gompirun nor one of its options is needed.
func TestInsightStandalone(t *testing.T) {
	program := compile(t, countedProgram)
	env := []string{"LD_PRELOAD=" + filepath.Join(built(t), "lib/libgompirma-insight.so"), "GOMPIRMA_INSIGHT=stats"}
	check := func(n int, err string) {
		ranks := fmt.Sprintf("%d ranks", n)
		if n == 1 {
			ranks = "1 rank"
		}
		require.Regexp(t, `(?m)^gompirma: `+ranks+`, \S+ s each$`, err)
		require.Regexp(t, fmt.Sprintf(`(?m)^  MPI_Put +%d +%d +\S+ +\S+ %%  \d+ \(\S+ s\)$`, 100*n, 1600*n),
			err)
	}
	for _, n := range []int{1, 3} {
		l := prepare(t, "-n", fmt.Sprint(n), "-x", env[0], "-x", env[1], program)
		require.Zero(t, l.run(t), l.Err.String())
		check(n, l.Err.String())
	}
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), env...)
	var text strings.Builder
	cmd.Stderr = &text
	require.NoError(t, cmd.Run(), text.String())
	check(1, text.String())
	// A program that does not use MPI prints nothing.
	cmd = exec.Command("true")
	cmd.Env = append(os.Environ(), env...)
	out := harness.Output(t, cmd)
	require.Empty(t, out)
}
