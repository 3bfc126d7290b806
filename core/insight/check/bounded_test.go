package check

import (
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
	"gompirma/core/insight"
)

// player passes records of calls to a checker. The records have increasing times, in the order of the calls.
type player struct {
	checker *Checker
	time    time.Duration
}

// values maps the names of parameters to inputs or outputs.
type values map[string]uint64

// numbers maps the names of functions to their numbers in records.
var numbers = sync.OnceValue(func() map[string]int {
	all := map[string]int{}
	for i, f := range abi.Functions() {
		all[f.Name] = i
	}
	return all
})

// call passes the record of a completed call of a rank to the checker. Communicators and groups in the record consist
// of ranks 0 and 1.
func (p *player) call(rank int, name string, in, out values) {
	number := numbers()[name]
	f := abi.Functions()[number]
	p.time += 2
	r := &insight.Record{Function: f, Number: number, Start: p.time, End: p.time + 1, Caller: uint64(number) + 1}
	for _, item := range insight.RecordItems(f) {
		add := func(to *[]insight.Value, from values) {
			v := insight.Value{Item: &item, State: insight.Absent}
			if w, given := from[item.Param.Name]; given || item.Form == insight.Word {
				v.State, v.Words = insight.Present, []uint64{w}
			}
			if item.Form == insight.Members {
				v.State, v.Words = insight.Present, []uint64{0, 1}
			} else if item.Form == insight.Remote || item.Form == insight.Statuses {
				v.State, v.Words = insight.Absent, nil
			}
			*to = append(*to, v)
		}
		if item.IsInput {
			add(&r.Inputs, in)
		}
		if item.IsOutput {
			add(&r.Outputs, out)
		}
	}
	p.checker.Record(rank, r)
	// The checker must not keep the words of a record after Record has returned.
	for _, v := range append(r.Inputs, r.Outputs...) {
		for i := range v.Words {
			v.Words[i] = 0x5a5a5a
		}
	}
}

// orders passes a record to the checker. The record has an event that orders a thread of rank 0.
func (p *player) orders(thread int, what int, object uint64) {
	p.time++
	p.checker.Record(0, &insight.Record{Thread: thread, Start: p.time, End: p.time,
		Events: []insight.Event{{Kind: what, Object: object}}})
}

// round creates, uses and frees objects of all kinds. Their handles differ from those of all other rounds.
func (p *player) round(n int) {
	const world = abi.MPI_COMM_WORLD
	handle := func(kind int) uint64 { return uint64(firstDynamic*(n+1)*16 + kind) }
	message := func(from, to int) {
		p.call(from, "MPI_Isend", values{"buf": 1 << 20, "count": 1, "datatype": abi.MPI_INT,
			"dest": uint64(to), "comm": world}, values{"request": handle(0)})
		p.call(from, "MPI_Request_free", values{"request": handle(0)}, values{"request": abi.MPI_REQUEST_NULL})
		p.call(to, "MPI_Irecv", values{"buf": 2 << 20, "count": 1, "datatype": abi.MPI_INT,
			"source": uint64(from), "comm": world}, values{"request": handle(1)})
		p.call(to, "MPI_Wait", values{"request": handle(1)}, values{"request": abi.MPI_REQUEST_NULL})
	}
	both := func(name string, in, out values) {
		p.call(0, name, in, out)
		p.call(1, name, in, out)
	}
	for thread := range 2 {
		p.orders(thread, insight.Release, handle(9+thread))
		p.orders(1-thread, insight.Acquire, handle(9+thread))
	}
	message(0, 1)
	message(1, 0)
	both("MPI_Comm_dup", values{"comm": world}, values{"newcomm": handle(2)})
	both("MPI_Comm_free", values{"comm": handle(2)}, values{"comm": abi.MPI_COMM_NULL})
	both("MPI_Type_contiguous", values{"count": 2, "oldtype": abi.MPI_INT}, values{"newtype": handle(3)})
	both("MPI_Type_free", values{"datatype": handle(3)}, values{"datatype": abi.MPI_DATATYPE_NULL})
	both("MPI_Info_create", nil, values{"info": handle(4)})
	both("MPI_Info_free", values{"info": handle(4)}, values{"info": abi.MPI_INFO_NULL})
	both("MPI_Comm_group", values{"comm": world}, values{"group": handle(5)})
	both("MPI_Win_allocate", values{"size": 64, "disp_unit": 1, "comm": world},
		values{"baseptr": uint64(n%100+1) << 24, "win": handle(6)})
	both("MPI_Win_lock_all", values{"win": handle(6)}, nil)
	p.call(0, "MPI_Rput", values{"origin_addr": 3 << 20, "origin_count": 1, "origin_datatype": abi.MPI_INT,
		"target_rank": 1, "target_count": 1, "target_datatype": abi.MPI_INT, "win": handle(6)},
		values{"request": handle(7)})
	p.call(0, "MPI_Wait", values{"request": handle(7)}, values{"request": abi.MPI_REQUEST_NULL})
	both("MPI_Win_unlock_all", values{"win": handle(6)}, nil)
	p.call(0, "MPI_Win_start", values{"group": handle(5), "win": handle(6)}, nil)
	p.call(1, "MPI_Win_post", values{"group": handle(5), "win": handle(6)}, nil)
	p.call(0, "MPI_Win_complete", values{"win": handle(6)}, nil)
	p.call(1, "MPI_Win_wait", values{"win": handle(6)}, nil)
	both("MPI_Win_free", values{"win": handle(6)}, values{"win": abi.MPI_WIN_NULL})
	both("MPI_Group_free", values{"group": handle(5)}, values{"group": abi.MPI_GROUP_NULL})
	both("MPI_Iallreduce", values{"sendbuf": 4 << 20, "recvbuf": 5 << 20, "count": 1, "datatype": abi.MPI_INT,
		"op": abi.MPI_SUM, "comm": world}, values{"request": handle(8)})
	both("MPI_Wait", values{"request": handle(8)}, values{"request": abi.MPI_REQUEST_NULL})
}

// reachable returns the number of objects that can be reached from a value: elements of maps and slices, and targets of
// pointers.
func reachable(v reflect.Value, seen map[uintptr]bool) (n int) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || seen[v.Pointer()] {
			return 0
		}
		seen[v.Pointer()] = true
		return 1 + reachable(v.Elem(), seen)
	case reflect.Map:
		if v.IsNil() || seen[v.Pointer()] {
			return 0
		}
		seen[v.Pointer()] = true
		for i := v.MapRange(); i.Next(); {
			n += 1 + reachable(i.Key(), seen) + reachable(i.Value(), seen)
		}
	case reflect.Slice:
		for i := range v.Len() {
			n += 1 + reachable(v.Index(i), seen)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			n += reachable(v.Field(i), seen)
		}
	}
	return n
}

// Checks that the checker's memory grows with the number of live objects, not with the number of calls.
func TestMemoryIsBounded(t *testing.T) {
	c := New(2, func(_ int, address uint64) insight.Location { return insight.Location{Line: int(address)} })
	c.Strict()
	p := &player{checker: c}
	p.orders(0, insight.Fork, 1)
	p.orders(1, insight.Enter, 1)
	p.orders(1, insight.Drop, 1)
	size := func() int { return reachable(reflect.ValueOf(c), map[uintptr]bool{}) }
	n := 0
	for ; n < 600; n++ {
		p.round(n)
	}
	before := size()
	for ; n < 1200; n++ {
		p.round(n)
	}
	require.Less(t, size(), before+before/20, "after 600 rounds there were %d", before)
	require.Empty(t, c.Findings())
	for i := range 2 {
		p.call(i, "MPI_Finalize", nil, nil)
	}
	require.Empty(t, c.Findings())
}

// Checks that many sends of one buffer whose requests have been freed count as one access until all messages are
// received, in any order.
func TestManyMessages(t *testing.T) {
	const many = 5000
	c := New(2, func(_ int, address uint64) insight.Location { return insight.Location{Line: int(address)} })
	p := &player{checker: c}
	arguments := func(i int) values {
		return values{"buf": 1 << 20, "count": 1, "datatype": abi.MPI_INT, "dest": 1, "source": 0,
			"tag": uint64(i), "comm": abi.MPI_COMM_WORLD}
	}
	for i := range many {
		request := uint64(firstDynamic + i)
		p.call(0, "MPI_Isend", arguments(i), values{"request": request})
		p.call(0, "MPI_Request_free", values{"request": request}, values{"request": abi.MPI_REQUEST_NULL})
	}
	require.Equal(t, 1, c.ranks[0].space.count)
	for i := range many - 1 {
		p.call(1, "MPI_Recv", arguments(many-1-i), nil)
	}
	last := c.ranks[0].space.pages[1<<20>>pageBits][0]
	require.False(t, last.isOver)
	p.call(1, "MPI_Recv", arguments(0), nil)
	require.True(t, last.isOver)
	require.Empty(t, c.Findings())
}

// Checks that the arguments of the members of a collective are compared correctly although the records of earlier
// members have been overwritten.
func TestListsOutliveRecords(t *testing.T) {
	c := New(2, func(_ int, address uint64) insight.Location { return insight.Location{Line: int(address)} })
	p := &player{checker: c}
	arguments := values{"sendbuf": 1 << 20, "sendcounts": 1, "displs": 0, "sendtype": abi.MPI_INT,
		"recvbuf": 2 << 20, "recvcount": 1, "recvtype": abi.MPI_INT, "root": 0, "comm": abi.MPI_COMM_WORLD}
	p.call(1, "MPI_Scatterv", arguments, nil)
	p.call(0, "MPI_Scatterv", arguments, nil)
	require.Empty(t, c.Findings())
}
