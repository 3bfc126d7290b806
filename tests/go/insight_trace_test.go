package gotest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// traceOutput is a decoded trace file of --trace. Times are in microseconds.
type traceOutput struct {
	TraceEvents []traceEvent
	OtherData   struct {
		Command string
		Ranks   int
		Jobs    []int
		Nodes   []string
		NodeOf  []int `json:"node_of"`
		Windows []struct {
			Name    string
			Sizes   []int64
			Dynamic bool
		}
		Dropped   []int64
		Checked   bool
		Conflicts []struct {
			What, Window string
			Accesses     []struct {
				Call, File string
				Line       int
			}
		}
		ExitStatus int `json:"exit_status"`
	}
}

type traceEvent struct {
	Ph, Cat, Name, ID string
	Pid, Tid          int
	Ts, Dur           float64
	Args              map[string]any
}

// text returns the event without times.
func (e *traceEvent) text() string {
	var parts []string
	for k, v := range e.Args {
		if k != "wait" && k != "for" {
			parts = append(parts, fmt.Sprintf("%s=%v", k, v))
		}
	}
	slices.Sort(parts)
	return strings.TrimSpace(e.Cat + " " + e.Name + " " + strings.Join(parts, " "))
}

func (e *traceEvent) end() float64 { return e.Ts + e.Dur }

// processes returns the names of the ranks.
func (d *traceOutput) processes() map[int]string {
	names := map[int]string{}
	for _, e := range d.TraceEvents {
		if e.Ph == "M" && e.Name == "process_name" {
			names[e.Pid], _ = e.Args["name"].(string)
		}
	}
	return names
}

// of returns the calls of the function `name` by one thread of a rank, ordered by time. If `name` is "", it returns all
// calls of the thread.
func (d *traceOutput) of(rank, thread int, name string) (calls []traceEvent) {
	for _, e := range d.TraceEvents {
		if e.Ph == "X" && e.Pid == rank && e.Tid == thread && (name == "" || e.Name == name) {
			calls = append(calls, e)
		}
	}
	slices.SortFunc(calls, func(a, b traceEvent) int {
		if a.Ts < b.Ts {
			return -1
		}
		return 1
	})
	return calls
}

// runTraced runs a job with --trace. It returns the decoded trace and gompirun's output. It also checks that gompirun
// can convert the trace to a page.
func runTraced(t *testing.T, env []string, wantStatus int, args ...string) (*traceOutput, string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "trace.json")
	l := prepare(t, append([]string{"--trace", file}, args...)...)
	l.Cmd.Env = append(l.Cmd.Env, env...)
	require.Equal(t, wantStatus, l.run(t), "%s%s", l.Out.String(), l.Err.String())
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	d := &traceOutput{}
	require.NoError(t, json.Unmarshal(content, d))
	status, _, said := gompirun(t, "report", file)
	require.Zero(t, status, said)
	require.Equal(t, wantStatus, d.OtherData.ExitStatus)
	return d, l.Err.String()
}

const tracedProgram = `
#include <mpi.h>
int main(int argc, char **argv)
{
	int rank, in[3], out[3] = {1, 2, 3};
	double x[20] = {0}, *base;
	MPI_Comm row;
	MPI_Win win, other;
	MPI_Datatype every;
	MPI_Request request;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &row); // ranks in reverse order
	MPI_Comm_set_name(row, "row");
	MPI_Win_allocate(100 * (rank + 1), rank + 1, MPI_INFO_NULL, row, &base, &win);
	MPI_Win_set_name(win, "halo");
	MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &other);
	MPI_Win_set_name(other, "halo");
	MPI_Type_vector(3, 1, 2, MPI_DOUBLE, &every);
	MPI_Type_commit(&every);
	MPI_Win_fence(0, win);
	MPI_Win_fence(0, other);
	if (rank == 0)
		MPI_Put(x, 3, MPI_DOUBLE, 0, 16, 1, every, win); // target: rank 1, with displacement unit 2
	MPI_Win_fence(0, win);
	if (rank == 0) {
		MPI_Send(out, 3, MPI_INT, 0, 7, row);
		MPI_Irecv(x, 20, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
	} else {
		MPI_Recv(in, 3, MPI_INT, MPI_ANY_SOURCE, 7, row, MPI_STATUS_IGNORE);
		MPI_Isend(x, 5, MPI_DOUBLE, 0, 9, MPI_COMM_WORLD, &request);
	}
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Allreduce(MPI_IN_PLACE, x, 4, MPI_DOUBLE, MPI_SUM, row);
	MPI_Type_free(&every);
	MPI_Win_free(&other);
	MPI_Win_free(&win);
	MPI_Comm_free(&row);
	MPI_Finalize();
	return 0;
}
`

// TestTrace checks every traced call of a program: its peer, bytes, program location and objects, and the arrows from
// sends to receives.
func TestTrace(t *testing.T) {
	program := compile(t, tracedProgram)
	both := func(rank int, texts ...[2]string) (list []string) {
		for _, x := range texts {
			if x[rank] != "" {
				list = append(list, x[rank])
			}
		}
		return list
	}
	same := func(x string) [2]string { return [2]string{x, x} }
	for _, nodes := range []string{"1", "2"} {
		t.Run(nodes+" nodes", func(t *testing.T) {
			d, said := runTraced(t, nil, 0, "--nodes", nodes, "-n", "2", program)
			require.Empty(t, said)
			for rank := range 2 {
				var got []string
				for _, e := range d.of(rank, 0, "") {
					got = append(got, e.text())
				}
				require.Equal(t, both(rank, same("other MPI_Init"),
					same("other MPI_Comm_rank comm=MPI_COMM_WORLD"),
					same("collective MPI_Comm_split comm=MPI_COMM_WORLD"),
					same("other MPI_Comm_set_name comm=row"),
					same("sync MPI_Win_allocate comm=row win=halo"),
					same("other MPI_Win_set_name win=halo"),
					same("sync MPI_Win_create_dynamic comm=MPI_COMM_WORLD win=halo 2"),
					same("other MPI_Win_set_name win=halo 2"),
					same("other MPI_Type_vector"), same("other MPI_Type_commit"),
					same("sync MPI_Win_fence win=halo"), same("sync MPI_Win_fence win=halo 2"),
					[2]string{"rma MPI_Put bytes=24 disp=32 span=40 target=1 win=halo", ""},
					same("sync MPI_Win_fence win=halo"),
					[2]string{"message MPI_Send bytes=12 comm=row dest=1 tag=7",
						"message MPI_Recv bytes=12 comm=row source=0 tag=7"},
					[2]string{"message MPI_Irecv comm=MPI_COMM_WORLD",
						"message MPI_Isend bytes=40 comm=MPI_COMM_WORLD dest=0 tag=9"},
					[2]string{"message MPI_Wait bytes=40 source=1 tag=9", "message MPI_Wait"},
					same("collective MPI_Allreduce bytes=32 comm=row"),
					same("other MPI_Type_free"),
					same("sync MPI_Win_free win=halo 2"), same("sync MPI_Win_free win=halo"),
					same("collective MPI_Comm_free comm=row"), same("other MPI_Finalize")), got)
			}
			require.Equal(t, "MPI_Put from 0", d.of(1, 1<<30, "")[0].Name)
			d.checkArrows(t, [][2]string{{"MPI_Put", "MPI_Put from 0"}, {"MPI_Send", "MPI_Recv"},
				{"MPI_Isend", "MPI_Wait"}})
			d.checkFences(t)

			o := &d.OtherData
			require.Equal(t, 2, o.Ranks)
			require.Equal(t, []int64{0, 0}, o.Dropped)
			require.False(t, o.Checked)
			require.Len(t, o.Windows, 2)
			require.Equal(t, "halo", o.Windows[0].Name)
			require.Equal(t, []int64{100, 200}, o.Windows[0].Sizes)
			require.Equal(t, "halo 2", o.Windows[1].Name)
			require.True(t, o.Windows[1].Dynamic)
			require.Contains(t, o.Command, "-n 2 "+program)
			require.Equal(t, map[string][]int{"1": {0, 0}, "2": {0, 1}}[nodes], o.NodeOf)
			require.Len(t, o.Nodes, map[string]int{"1": 1, "2": 2}[nodes])
		})
	}
}

// checkArrows checks that each arrow begins inside the sending call and ends inside the receiving call.
func (d *traceOutput) checkArrows(t *testing.T, want [][2]string) {
	t.Helper()
	ends := map[string]*[2]string{}
	for _, f := range d.TraceEvents {
		if f.Ph != "s" && f.Ph != "f" {
			continue
		}
		id := f.Cat + f.ID
		if ends[id] == nil {
			ends[id] = &[2]string{}
		}
		for _, e := range d.of(f.Pid, f.Tid, "") {
			if e.Ts <= f.Ts && f.Ts <= e.end() {
				ends[id][map[string]int{"s": 0, "f": 1}[f.Ph]] = e.Name
			}
		}
	}
	var got [][2]string
	for _, e := range ends {
		got = append(got, *e)
	}
	require.ElementsMatch(t, want, got)
}

// checkFences checks that in each fence the rank that arrives first waits for the other rank, beginning with its own
// arrival.
func (d *traceOutput) checkFences(t *testing.T) {
	t.Helper()
	mine, others := d.of(0, 0, "MPI_Win_fence"), d.of(1, 0, "MPI_Win_fence")
	require.Len(t, mine, 3)
	require.Len(t, others, 3)
	for i := range mine {
		first, last := mine[i], others[i]
		if last.Ts < first.Ts {
			first, last = last, first
		}
		require.NotContains(t, last.Args, "wait")
		if first.Ts < last.Ts {
			require.EqualValues(t, last.Pid, first.Args["for"])
			require.InDelta(t, last.Ts-first.Ts, first.Args["wait"], 0.0005)
		}
	}
}

func TestTraceFortran(t *testing.T) {
	file, program := filepath.Join(t.TempDir(), "p.f90"), filepath.Join(t.TempDir(), "p")
	require.NoError(t, os.WriteFile(file, []byte(`
program p
  use mpi_f08
  integer :: rank, got(4) = 0
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  if (rank == 0) call MPI_Send(got, 4, MPI_INTEGER, 1, 5, MPI_COMM_WORLD)
  if (rank == 1) call MPI_Recv(got, 4, MPI_INTEGER, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  call MPI_Finalize()
end program
`), 0o644))
	runTool(t, "gompifort", "-o", program, file)
	d, _ := runTraced(t, nil, 0, "-n", "2", program)
	sends, receives := d.of(0, 0, "MPI_Send"), d.of(1, 0, "MPI_Recv")
	require.Len(t, sends, 1)
	require.Len(t, receives, 1)
	require.Equal(t, "message MPI_Send bytes=16 comm=MPI_COMM_WORLD dest=1 tag=5", sends[0].text())
	require.Equal(t, "message MPI_Recv bytes=16 comm=MPI_COMM_WORLD source=0 tag=5", receives[0].text())
	d.checkArrows(t, [][2]string{{"MPI_Send", "MPI_Recv"}})
}

func TestTraceThreads(t *testing.T) {
	program := compile(t, `
#include <mpi.h>
#include <pthread.h>
static MPI_Win win;
static void *work(void *x)
{
	MPI_Accumulate(x, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win);
	return NULL;
}
int main(void)
{
	int level, *base, one = 1;
	pthread_t threads[3];
	MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
	MPI_Win_allocate(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
	MPI_Win_lock_all(0, win);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, work, &one);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
`, "-pthread")
	d, _ := runTraced(t, nil, 0, "-n", "1", program)
	var names []any
	for _, e := range d.TraceEvents {
		if e.Ph == "M" && e.Name == "thread_name" {
			names = append(names, e.Args["name"])
		}
	}
	require.ElementsMatch(t, []any{"thread 0", "thread 1", "thread 2", "thread 3"}, names)
	for thread := 1; thread <= 3; thread++ {
		calls := d.of(0, thread, "")
		require.Len(t, calls, 1)
		require.Equal(t, "rma MPI_Accumulate bytes=4 disp=0 target=0 win=window 1", calls[0].text())
	}
}

// TestTraceKilled checks that the trace contains the records of a killed rank, and that a call in which another rank
// still waits ends at the end of the job.
func TestTraceKilled(t *testing.T) {
	program := compile(t, `
#include <mpi.h>
#include <signal.h>
int main(void)
{
	int rank, *base, x = 1;
	MPI_Win win;
	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_allocate(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
	MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
	if (rank == 1) {
		for (int i = 0; i < 1000; i++)
			MPI_Put(&x, 1, MPI_INT, rank, 0, 1, MPI_INT, win);
		raise(SIGKILL);
	}
	MPI_Recv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	return 0;
}
`)
	d, _ := runTraced(t, nil, 128+9, "-n", "2", program)
	require.Len(t, d.of(1, 0, "MPI_Put"), 1000)
	require.Len(t, d.of(0, 0, "MPI_Recv"), 1)
	require.Equal(t, []int64{0, 0}, d.OtherData.Dropped)
}

// TestTraceComplete checks that a rank whose ring is full waits until gompirun has read records, so that no record is
// lost. The program writes many times more records than the ring holds.
func TestTraceComplete(t *testing.T) {
	const n = 30000
	program := compile(t, fmt.Sprintf(`
#include <mpi.h>
int main(void)
{
	int *base, x = 1;
	MPI_Win win;
	MPI_Init(NULL, NULL);
	MPI_Win_allocate(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
	MPI_Win_lock_all(0, win);
	for (int i = 0; i < %d; i++) {
		MPI_Put(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
		MPI_Win_flush(0, win);
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
`, n))
	d, said := runTraced(t, []string{"GOMPIRMA_INSIGHT_RING=1"}, 0, "-n", "1", program)
	require.Empty(t, said)
	require.Equal(t, []int64{0}, d.OtherData.Dropped)
	counts := map[string]int{}
	for _, e := range d.TraceEvents {
		if e.Ph == "X" {
			counts[e.Name]++
		}
	}
	require.Equal(t, n, counts["MPI_Put"])
	require.Equal(t, n, counts["MPI_Win_flush"])
}

// TestTraceDropped checks --trace=drop while gompirun does not read, because the program has stopped it by a signal.
// Only records of one-sided operations may be lost, and gompirun must report their number.
func TestTraceDropped(t *testing.T) {
	program := compile(t, `
#include <mpi.h>
#include <signal.h>
#include <unistd.h>
int main(void)
{
	int *base, x = 1;
	MPI_Win win;
	MPI_Init(NULL, NULL);
	kill(getppid(), SIGSTOP);
	MPI_Win_allocate(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
	MPI_Win_set_name(win, "w");
	MPI_Win_fence(0, win);
	for (int i = 0; i < 100000; i++)
		MPI_Put(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
	kill(getppid(), SIGCONT);
	MPI_Finalize();
	return 0;
}
`)
	d, said := runTraced(t, []string{"GOMPIRMA_INSIGHT_RING=1"}, 0, "--trace=drop", "-n", "1", program)
	puts := d.of(0, 0, "MPI_Put")
	require.NotEmpty(t, puts)
	require.Equal(t, []int64{int64(100000 - len(puts))}, d.OtherData.Dropped)
	require.Positive(t, d.OtherData.Dropped[0])
	require.Contains(t, said, fmt.Sprintf("gompirun: --trace: the trace lacks %d calls of rank 0, because",
		d.OtherData.Dropped[0]))
	require.Len(t, d.of(0, 0, "MPI_Win_fence"), 2)
	require.Equal(t, "sync MPI_Win_free win=w", d.of(0, 0, "MPI_Win_free")[0].text())
}

// TestTraceDroppedCalls checks that a lost call counts once, although a call has two records, one at entry and one at
// return.
func TestTraceDroppedCalls(t *testing.T) {
	program := compile(t, `
#include <mpi.h>
#include <signal.h>
#include <unistd.h>
int main(void)
{
	int *base;
	MPI_Win win;
	MPI_Init(NULL, NULL);
	kill(getppid(), SIGSTOP);
	MPI_Win_allocate(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
	MPI_Win_lock_all(0, win);
	for (int i = 0; i < 100000; i++)
		MPI_Win_flush(0, win);
	MPI_Win_unlock_all(win);
	kill(getppid(), SIGCONT);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
`)
	d, _ := runTraced(t, []string{"GOMPIRMA_INSIGHT_RING=1"}, 0, "--trace=drop", "-n", "1", program)
	require.NotEmpty(t, d.of(0, 0, "MPI_Win_flush"))
	require.Positive(t, d.OtherData.Dropped[0])
	require.Equal(t, int64(100000+6), int64(len(d.of(0, 0, "")))+d.OtherData.Dropped[0])
}

// TestTraceChecked checks that a trace with --check contains the findings. The program is an example with a missing
// fence.
func TestTraceChecked(t *testing.T) {
	source, err := os.ReadFile(filepath.Join(top, "examples/racy_halo.c"))
	require.NoError(t, err)
	d, said := runTraced(t, nil, 3, "--check", "-n", "3", compile(t, string(source)))
	require.Contains(t, said, "race: window 'rod'")
	require.True(t, d.OtherData.Checked)
	require.NotEmpty(t, d.OtherData.Conflicts)
	line := 0 // line of the call before which the fence is missing
	for i, text := range strings.Split(string(source), "\n") {
		if line == 0 && strings.Contains(text, "MPI_Gather(") {
			line = i + 1
		}
	}
	for _, c := range d.OtherData.Conflicts {
		require.Equal(t, "rod", c.Window)
		require.Equal(t, "race", c.What)
		require.Len(t, c.Accesses, 2)
		require.True(t, slices.ContainsFunc(c.Accesses[:], func(a struct {
			Call, File string
			Line       int
		}) bool {
			return a.Call == "MPI_Gather" && a.Line == line
		}), "%v", c)
	}
}

// TestTraceUnwritable checks that, if gompirun cannot write the file of --trace, it reports that before it starts the
// ranks.
func TestTraceUnwritable(t *testing.T) {
	status, out, said := gompirun(t, "--trace=/nonexistent/trace.json", "-n", "2", "echo", "started")
	require.Equal(t, 2, status)
	require.Empty(t, out)
	require.Equal(t, "gompirun: --trace /nonexistent/trace.json: no such file or directory\n", said)
	status, _, said = gompirun(t, "--trace=", "-n", "1", "true")
	require.Equal(t, 2, status)
	require.Equal(t, "gompirun: --trace= needs a file\n", said)
	status, _, said = gompirun(t, "--trace", "-n", "1", "true")
	require.Equal(t, 2, status)
	require.Equal(t, "gompirun: --trace needs the name of a file, but -n looks like an option "+
		"(for a file of this name write ./-n)\n", said)
	status, _, said = gompirun(t, "--trace=drop", "-n", "1", "true")
	require.Equal(t, 2, status)
	require.Equal(t, "gompirun: --trace=drop also needs --trace=FILE, the file of the trace\n", said)
}
