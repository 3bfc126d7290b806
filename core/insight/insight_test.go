package insight

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"gompirma/core/abi"
)

// numbers maps the name of a function to its index in abi.Functions.
var numbers = func() map[string]int {
	m := map[string]int{}
	for i, f := range abi.Functions() {
		m[f.Name] = i
	}
	return m
}()

func number(t *testing.T, name string) int {
	n, ok := numbers[name]
	require.True(t, ok, name)
	return n
}

// record returns the words of a record with the given words of inputs and outputs.
func record(t *testing.T, name string, flags uint64, items ...uint64) []uint64 {
	words := append([]uint64{0, 3, 100, 250, 0xc0de, 0}, items...)
	words[0] = uint64(number(t, name)) | flags<<16 | uint64(len(words))<<32
	return words
}

func head(s State, n int) uint64 { return uint64(s)<<32 | uint64(n) }

// text returns the encoding of a text in a record.
func text(s string) []uint64 {
	words := make([]uint64, 1+(len(s)+7)/8)
	words[0] = uint64(len(s))
	copy(unsafeBytes(words[1:]), s)
	return words
}

// writeRecord writes a record as capi/insight/record.c does.
func (r *Rank) writeRecord(words []uint64) {
	at := *u64(r.part, PartHead)
	size := uint64(len(r.ring))
	for i, w := range words[1:] {
		r.ring[(at+1+uint64(i))%size] = w
	}
	atomic.StoreUint64(&r.ring[at%size], words[0])
	*u64(r.part, PartHead) = at + uint64(len(words))
}

func newRank(t *testing.T) (*Memory, *Rank) {
	m, err := Create(1, Records, 0)
	require.NoError(t, err)
	t.Cleanup(m.Close)
	return m, m.Rank(0)
}

// readText reads the records in the ring and returns them as text: function, inputs and outputs.
func readText(t *testing.T, r *Rank) (lines []string) {
	_, err := r.Read(func(words []uint64) {
		var rec Record
		require.NoError(t, rec.Decode(words))
		line := rec.Function.Name
		for _, values := range [][]Value{rec.Inputs, rec.Outputs} {
			for _, v := range values {
				line += fmt.Sprintf(" %s:%d:%v%s", v.Item.Param.Name, v.State, v.Words, v.Text())
			}
			line += ";"
		}
		lines = append(lines, line)
	})
	require.NoError(t, err)
	return lines
}

func TestForms(t *testing.T) {
	_, r := newRank(t)
	r.writeRecord(record(t, "MPI_Put", 0, 0x7f00, 2, 0x214, 1, 5, 2, 0x214, 0x20000001))
	r.writeRecord(record(t, "MPI_Waitall", 0,
		2, head(Present, 2), 11, 12, // inputs
		head(Present, 2), 0x180, 0x180, head(Present, 2), 1, 2, 3, 4, 5, 6, 7, 8))
	r.writeRecord(record(t, "MPI_Waitall", flagEntry, 2, head(Present, 2), 11, 12))
	r.writeRecord(record(t, "MPI_Waitall", 0, 1, head(Present, 1), 11, head(Present, 1), 0x180, head(Null, 0)))
	r.writeRecord(record(t, "MPI_Win_set_name", 0, append([]uint64{7}, text("a window")...)...))
	r.writeRecord(record(t, "MPI_Win_get_name", 0, append(append([]uint64{7}, text("w")...), head(Present, 1),
		1)...))
	r.writeRecord(record(t, "MPI_Win_get_name", 0, 7, head(Absent, 0), head(Absent, 0)))
	r.writeRecord(record(t, "MPI_Dist_graph_create", flagTruncated, 1, 1, head(Truncated, 1), 0, head(Present,
		1), 2,
		head(Present, 2), 3, 4, head(Special, 1), 10, 0x130, 0, head(Present, 1), 9, head(Present, 2), 3, 5,
		head(Absent, 0)))
	require.Equal(t, []string{
		"MPI_Put origin_addr:0:[32512] origin_count:0:[2] origin_datatype:0:[532] target_rank:0:[1] " +
			"target_disp:0:[5] target_count:0:[2] target_datatype:0:[532] win:0:[536870913];;",
		"MPI_Waitall count:0:[2] array_of_requests:0:[11 12]; array_of_requests:0:[384 384] " +
			"array_of_statuses:0:[1 2 3 4 5 6 7 8];",
		"MPI_Waitall count:0:[2] array_of_requests:0:[11 12];;",
		"MPI_Waitall count:0:[1] array_of_requests:0:[11]; array_of_requests:0:[384] array_of_statuses:2:[];",
		"MPI_Win_set_name win:0:[7] win_name:0:[8606207838306902113]a window;;",
		"MPI_Win_get_name win:0:[7]; win_name:0:[119]w resultlen:0:[1];",
		"MPI_Win_get_name win:0:[7]; win_name:4:[] resultlen:4:[];",
		"MPI_Dist_graph_create comm_old:0:[1] n:0:[1] sources:1:[0] degrees:0:[2] destinations:0:[3 4] " +
			"weights:3:[10] info:0:[304] reorder:0:[0]; comm_dist_graph:0:[9] " +
			"comm_dist_graph:0:[3 5] comm_dist_graph:4:[];",
	}, readText(t, r))
	require.Empty(t, readText(t, r))
	require.Equal(t, make([]uint64, len(r.ring)), r.ring, "what has been read is zero")
}

func TestRecordFields(t *testing.T) {
	words := record(t, "MPI_Recv", flagTruncated, 0x7000, 4, 0x209, ^uint64(0), 7, 0x101, head(Present, 1),
		3|9<<32, 14, 0, 0)
	words[5] = ^uint64(0)
	var r Record
	require.NoError(t, r.Decode(words))
	require.Equal(t, "MPI_Recv", r.Function.Name)
	require.Equal(t, number(t, "MPI_Recv"), r.Number)
	require.Equal(t, 3, r.Thread)
	require.Equal(t, []time.Duration{100, 250}, []time.Duration{r.Start, r.End})
	require.Equal(t, uint64(0xc0de), r.Caller)
	require.Equal(t, int64(-1), r.Result)
	require.True(t, r.Truncated)
	require.False(t, r.Entry)
	require.Equal(t, int64(-1), r.In("source").Int())
	require.Equal(t, uint64(0x101), r.In("comm").Uint())
	require.False(t, r.In("nonsense").HasValue())
	status := r.Out("status")
	require.Equal(t, 1, status.Statuses())
	require.Equal(t, Status{Source: 3, Tag: 9, Error: 14, Words: [4]uint64{3 | 9<<32, 14}}, status.Status(0))
}

// Checks that the members of a new communicator follow the outputs, and are not found as a parameter.
func TestMembers(t *testing.T) {
	var r Record
	require.NoError(t, r.Decode(record(t, "MPI_Comm_split", 0, 0x101, 1, 0, head(Present, 1), 0x2000, head(Present,
		2), 4, 2,
		head(Present, 1), 7)))
	require.Equal(t, []int{4, 2}, r.Members(false))
	require.Equal(t, []int{7}, r.Members(true))
	require.Equal(t, uint64(0x2000), r.Out("newcomm").Uint())
	require.NoError(t, r.Decode(record(t, "MPI_Win_start", flagEntry, 0x3000, 0, 5, head(Present, 1), 6)))
	require.Equal(t, []int{6}, r.Members(false))
	require.Equal(t, uint64(0x3000), r.In("group").Uint())
}

// Checks that Decode rejects records that are incomplete, too long or of an unknown function.
func TestInvalidRecords(t *testing.T) {
	for _, c := range []struct {
		words []uint64
		text  string
	}{
		{nil, errShort.Error()},
		{record(t, "MPI_Put", 0, 1, 2), "MPI_Put: " + errShort.Error()},
		{record(t, "MPI_Wait", 0, head(Present, 1)), "MPI_Wait: " + errShort.Error()},
		{record(t, "MPI_Win_set_name", 0, 7, head(Present, 9), 1), "MPI_Win_set_name: " + errShort.Error()},
		{record(t, "MPI_Comm_rank", 0, 7, head(Present, 1), 0, 1),
			"MPI_Comm_rank: a record has 1 more words than the function needs"},
		{[]uint64{accessRecord | 9<<32, 0, 0, 0, 0, 0, 1, 1 << 8, 0}, errShort.Error()},
		{[]uint64{eventRecord | 7<<32, 0, 0, 0, 0, 0, Release}, errShort.Error()},
		{[]uint64{eventRecord | 8<<32, 0, 0, 0, 0, 0, FreeWindow + 1, 1}, errShort.Error()},
		{[]uint64{0xfffd | 6<<32, 0, 0, 0, 0, 0}, "a record has function number 65533, which does not exist"},
		{[]uint64{7 << 32, 0, 0, 0, 0, 0}, errShort.Error()},
	} {
		var r Record
		require.EqualError(t, r.Decode(c.words), c.text)
	}
	_, r := newRank(t)
	r.writeRecord([]uint64{1 | 5<<32, 0, 0, 0, 0, 0})
	for range 2 {
		_, err := r.Read(func([]uint64) { require.Fail(t, "no record") })
		require.EqualError(t, err, fmt.Sprintf("the shared memory for records of calls is damaged (internal "+
			"error): the record at word 0 has 5 words; it must have %d to %d", HeadWords, MaxRecord))
	}
}

// Checks that records wrap around the end of the ring several times.
func TestRing(t *testing.T) {
	_, r := newRank(t)
	var want []string
	for i := range 3 * len(r.ring) / 9 {
		r.writeRecord(record(t, "MPI_Get_count", 0, head(Present, 1), uint64(i), 0, 0, 0, 0x209,
			head(Present, 1), 5))
		want = append(want, fmt.Sprintf("MPI_Get_count status:0:[%d 0 0 0] datatype:0:[521]; count:0:[5];", i))
		if i%1000 == 999 {
			require.Equal(t, want, readText(t, r))
			want = nil
		}
	}
	require.Equal(t, want, readText(t, r))
	require.Equal(t, *u64(r.part, PartHead), *u64(r.part, PartTail))
	require.Greater(t, *u64(r.part, PartTail), 3*uint64(len(r.ring)))
}

// Checks that a record is readable only once its first word is set, and that the reader wakes a thread that waits for
// space.
func TestOrder(t *testing.T) {
	_, r := newRank(t)
	words := record(t, "MPI_Win_fence", 0, 0, 7)
	first := words[0]
	words[0] = 0
	r.writeRecord(words)
	require.Empty(t, readText(t, r))
	require.Zero(t, *u32(r.part, PartSpaceFutex))
	*u32(r.part, PartSpaceWanted) = 1
	r.ring[0] = first
	require.Len(t, readText(t, r), 1)
	require.Equal(t, []uint32{0, 1}, []uint32{*u32(r.part, PartSpaceWanted), *u32(r.part, PartSpaceFutex)})
}

func TestFollow(t *testing.T) {
	m, err := Create(2, Records, 0)
	require.NoError(t, err)
	defer m.Close()
	stop, done := make(chan struct{}), make(chan error)
	seen := make(chan string, 10)
	go func() {
		done <- m.Follow(stop, func(rank int, words []uint64) error {
			var r Record
			err := r.Decode(words)
			seen <- fmt.Sprint(rank, r.Function.Name)
			return err
		},
			func(time.Duration) {})
	}()
	m.Rank(1).writeRecord(record(t, "MPI_Win_fence", 0, 0, 7))
	require.Equal(t, "1MPI_Win_fence", <-seen)
	close(stop)
	require.NoError(t, <-done)
	m.Rank(0).writeRecord(record(t, "MPI_Put", 0, 1))
	require.EqualError(t, m.Follow(stop, func(int, []uint64) error { return errShort }, func(time.Duration) {}),
		"rank 0: "+errShort.Error())
}

// Checks that Follow reads the records of a job that is added while it runs, and frees the ring of a rank that has
// ended.
func TestAddedJob(t *testing.T) {
	m, err := Create(2, Records, 0)
	require.NoError(t, err)
	defer m.Close()
	stop, done, seen := make(chan struct{}), make(chan error), make(chan int, 10)
	go func() {
		done <- m.Follow(stop, func(rank int, _ []uint64) error {
			seen <- rank
			return nil
		}, func(time.Duration) {})
	}()
	first, err := m.Add(1)
	require.NoError(t, err)
	require.Equal(t, 2, first)
	require.EqualValues(t, 3, *u32(m.bytes, JobRanks))
	require.EqualValues(t, 2, *u32(m.Rank(2).part, PartFirst))
	m.Rank(2).writeRecord(record(t, "MPI_Win_fence", 0, 0, 7))
	require.Equal(t, 2, <-seen)
	blocks := func() int64 {
		var s unix.Stat_t
		require.NoError(t, unix.Fstat(int(m.File().Fd()), &s))
		return s.Blocks
	}
	before := blocks()
	m.Rank(2).Ended()
	require.Eventually(t, func() bool { return blocks() < before }, 10*time.Second, time.Millisecond)
	close(stop)
	require.NoError(t, <-done)
}

func TestJobs(t *testing.T) {
	jobs := Jobs{0, 2, 2, 4} // job 1 has no ranks here
	require.Equal(t, "rank 1", jobs.Name(1))
	require.Equal(t, "job 2 rank 0", jobs.Name(2))
	require.Equal(t, "job 3 rank 5", jobs.Name(9))
	require.Equal(t, "rank -1", jobs.Name(-1))
}

// Checks that ReadOneEach frees space for a waiting rank while afterPass runs.
func TestReadOne(t *testing.T) {
	m, err := Create(2, Records, 0)
	require.NoError(t, err)
	defer m.Close()
	for range 3 {
		m.Rank(1).writeRecord(record(t, "MPI_Win_fence", 0, 0, 7))
	}
	stop, got, more := make(chan struct{}), 0, 2
	close(stop)
	err = m.Follow(stop, func(rank int, words []uint64) error {
		got++
		return nil
	}, func(time.Duration) {
		for ; more > 0; more-- {
			m.Rank(1).writeRecord(record(t, "MPI_Win_fence", 0, 0, 7))
			m.Rank(1).writeRecord(record(t, "MPI_Win_fence", 0, 0, 7))
			before, at := got, m.Rank(1).Position()
			m.ReadOneEach()
			require.Equal(t, before+1, got)
			require.Greater(t, m.Rank(1).Position(), at)
		}
	})
	require.NoError(t, err)
	require.Equal(t, 7, got)
	m.ReadOneEach() // reads nothing, because it is not called within Follow
}

func TestObjects(t *testing.T) {
	_, r := newRank(t)
	copy(r.part[PartNameAt:], "prog\x00lib.so\x00")
	for i, v := range []uint64{0x1000, 0x2000, 0x1000, 0, 0x7000, 0x9000, 0x6000, 5} {
		*u64(r.part, PartTable+int64(i)*8) = v
	}
	*u32(r.part, PartObjects) = 2
	require.Equal(t, []Object{{0x1000, 0x2000, 0x1000, "prog"}, {0x7000, 0x9000, 0x6000, "lib.so"}}, r.Objects())
	*u64(r.part, PartTable+ObjectName) = 1 << 40
	*u32(r.part, PartObjects) = 1 << 31
	require.Len(t, r.Objects(), MaxObjects)
	require.Empty(t, r.Objects()[0].Name)
}

// itemsText returns the items of a function as text: "count requests* | requests* statuses+".
func itemsText(f *abi.Function) string {
	sign := map[Form]string{List: "*", Statuses: "+", Text: "$"}
	var before, after []string
	for _, i := range RecordItems(f) {
		if i.IsInput {
			before = append(before, i.Param.Name+sign[i.Form])
		}
		if i.IsOutput {
			after = append(after, i.Param.Name+sign[i.Form])
		}
	}
	return strings.Join(before, " ") + " | " + strings.Join(after, " ")
}

func TestPlan(t *testing.T) {
	for name, want := range map[string]string{
		"MPI_Put": "origin_addr origin_count origin_datatype target_rank target_disp target_count " +
			"target_datatype win | ",
		"MPI_Rget": "origin_addr origin_count origin_datatype target_rank target_disp target_count " +
			"target_datatype win | request*",
		"MPI_Waitall":      "count array_of_requests* | array_of_requests* array_of_statuses+",
		"MPI_Win_allocate": "size disp_unit info comm | baseptr* win*",
		"MPI_Win_free":     "win* | win*",
		"MPI_Get_count":    "status+ datatype | count*",
		"MPI_Info_get":     "info key$ valuelen value | flag*",
		"MPI_Type_create_struct": "count array_of_blocklengths* array_of_displacements* array_of_types* | " +
			"newtype*",
		"MPI_Op_create":     "user_fn commute | op*",
		"MPI_Finalize":      " | ",
		"MPI_Pcontrol":      "level | ",
		"MPI_Error_string":  "errorcode | string$ resultlen*",
		"MPI_Group_excl":    "group n ranks* | newgroup*",
		"MPI_Comm_set_attr": "comm comm_keyval attribute_val | ",
	} {
		require.Equal(t, want, itemsText(abi.FunctionByName(name)), name)
	}
	// Every item is an input or output. Only inout parameters are both.
	for _, f := range abi.Functions() {
		for _, i := range RecordItems(f) {
			what := f.Name + " " + i.Param.Name
			require.True(t, i.IsInput || i.IsOutput, what)
			require.Equal(t, i.IsInput && i.IsOutput, i.Form != Word && i.Param.Dir == abi.InOut, what)
		}
	}
}

func TestFunctionPredicates(t *testing.T) {
	for _, names := range [][]string{waitingNames, collectiveNames} {
		for _, name := range names {
			require.NotNil(t, abi.FunctionByName(name), name)
			require.True(t, MayWait(abi.FunctionByName(name)), name)
		}
	}
	for name, want := range map[string][4]bool{ // results of IsUnrecorded, IsTest, IsCollective, MayWait
		"MPI_Wtime": {true}, "MPI_Aint_add": {true}, "MPI_Win_toint": {true}, "MPI_Win_fromint": {true},
		"MPI_Test": {false, true}, "MPI_Win_test": {false, true}, "MPI_Testsome": {}, "MPI_Put": {},
		"MPI_Barrier": {false, false, true, true}, "MPI_Bcast_c": {false, false, true, true},
		"MPI_Ibarrier": {}, "MPI_Intercomm_merge": {false, false, true, true},
		"MPI_Barrier_init": {}, "MPI_Op_create": {}, "MPI_Reduce_local": {}, "MPI_Type_commit": {},
		"MPI_Neighbor_alltoallw": {false, false, true, true}, "MPI_Ineighbor_allgather": {},
		"MPI_Win_lock": {false, false, false, true}, "MPI_Recv_c": {false, false, false, true}, "MPI_Irecv": {},
		"MPI_File_read_all": {false, false, true, true}, "MPI_File_iread_all": {}, "MPI_Start": {},
		"MPI_File_write_ordered": {false, false, true, true}, "MPI_File_write_all_begin": {},
		"MPI_File_write_all_end": {false, false, true, true}, "MPI_File_sync": {false, false, true, true},
		"MPI_File_write_at": {}, "MPI_File_get_size": {},
		"MPI_Win_create_c": {false, false, true, true}, "MPI_Comm_idup": {},
	} {
		f := abi.FunctionByName(name)
		require.Equal(t, want, [4]bool{IsUnrecorded(f), IsTest(f), IsCollective(f), MayWait(f)}, name)
		require.False(t, IsTest(f) && !hasParam(f, "flag"), name)
	}
}

// BenchmarkRecord measures the time to write, read and decode the record of a put.
func BenchmarkRecord(b *testing.B) {
	m, err := Create(1, Records, 0)
	require.NoError(b, err)
	defer m.Close()
	put := abi.FunctionByName("MPI_Put")
	words := []uint64{uint64(slices.Index(abi.Functions(), put)) | 14<<32, 0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7, 8}
	var r Record
	for b.Loop() {
		m.Rank(0).writeRecord(words)
		m.Rank(0).Read(func(words []uint64) {
			if err := r.Decode(words); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// Checks that Read returns although a writer is as fast as the reader, because Read reads at most one ring size.
func TestReadEnds(t *testing.T) {
	m, err := Create(1, Records|WaitForSpace, MinRing)
	require.NoError(t, err)
	defer m.Close()
	r := m.Rank(0)
	record := make([]uint64, MaxRecord)
	record[0] = MaxRecord << 32
	require.NoError(t, r.Write(record, nil))
	written := 1
	n, err := r.Read(func([]uint64) {
		if written < 100 {
			written++
			require.NoError(t, r.Write(record, nil))
		}
	})
	require.NoError(t, err)
	require.Equal(t, MinRing/8/MaxRecord, n)
}
