package coll

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/datatype"
	"gompirma/core/mpierr"
	"gompirma/core/op"
)

// TestCheck checks Call.Check: each case changes one argument of a correct call of rank 0 or 1 of 2 processes.
func TestCheck(t *testing.T) {
	integer, err := datatype.Get(abi.MPI_INT)
	require.NoError(t, err)
	double, err := datatype.Get(abi.MPI_DOUBLE)
	require.NoError(t, err)
	head := make([]int64, datatype.HeadWords) // the head of a vector of 2 integers
	head[datatype.HeadElem], head[datatype.HeadSize], head[datatype.HeadExtent] = abi.MPI_INT, 8, 24
	head[datatype.HeadTrueUB], head[datatype.HeadSegments] = 24, 2
	gappy := datatype.New(0x1000, nil, head)
	ops := func(h uintptr) *op.Op {
		o, err := op.Get(h)
		require.NoError(t, err)
		return o
	}
	sum := ops(abi.MPI_SUM)
	const in, out = 0x100000, 0x200000 // no code accesses the memory
	right := func(kind Kind, rank int) Call {
		pair := Blocks{Counts: []int64{3, 3}, Displs: []int64{0, 5}}
		k := Call{
			Kind: kind, Comm: comm.NewWorld(nil, 0, rank, 2), Op: sum, Send: Buffer{in, 3, integer},
			Recv:       Buffer{out, 3, integer},
			SendBlocks: pair, RecvBlocks: Blocks{Counts: []int64{3, 3}, Displs: []int64{0, 5}},
		}
		if kind == KindAlltoallw {
			k.SendBlocks.Types = []*datatype.Type{integer, integer}
			k.RecvBlocks.Types = k.SendBlocks.Types
		}
		return k
	}
	const late = 1000
	all := func(kinds ...Kind) []Kind { return kinds }
	reductions := all(KindReduce, KindAllreduce, KindScan, KindExscan, KindReduceScatter, KindReduceScatterBlock)
	rooted := all(KindBcast, KindReduce, KindGather, KindGatherv, KindScatter, KindScatterv)
	for kind := KindBarrier; kind < KindNeighborAllgather; kind++ {
		for rank := 0; rank < 2; rank++ {
			k := right(kind, rank)
			require.NoError(t, k.Check(), "%v at rank %d", kind, rank)
		}
	}
	for _, c := range []struct {
		what   string
		kinds  []Kind
		rank   int
		change func(k *Call)
		class  int32 // expected error class; 0 for none; `late` + class for an error at the end of the call
	}{
		{"a displacement that 64 bits do not hold in bytes", all(KindScatterv, KindAlltoallv), 0,
			func(k *Call) { k.SendBlocks.Displs[1] = 1 << 62 }, abi.MPI_ERR_ARG},
		{"the least displacement", all(KindGatherv, KindAllgatherv, KindAlltoallv), 0,
			func(k *Call) { k.RecvBlocks.Displs[1] = math.MinInt64 }, abi.MPI_ERR_ARG},
		{"a displacement of nothing", all(KindAllgatherv), 0,
			func(k *Call) { k.RecvBlocks.Counts[1], k.RecvBlocks.Displs[1] = 0, math.MinInt64 }, 0},
		{"a displacement to NULL", all(KindAlltoallw), 0, func(k *Call) { k.RecvBlocks.Displs[1] = -out },
			abi.MPI_ERR_BUFFER},
		{"a displacement to the last byte of all", all(KindAlltoallw), 0,
			func(k *Call) { k.RecvBlocks.Displs[1] = -out - 1 }, abi.MPI_ERR_BUFFER},
		{"root too large", rooted, 0, func(k *Call) { k.Root = 2 }, abi.MPI_ERR_ROOT},
		{"negative root", rooted, 0, func(k *Call) { k.Root = -1 }, abi.MPI_ERR_ROOT},
		{"MPI_ROOT", rooted, 0, func(k *Call) { k.Root = abi.MPI_ROOT }, abi.MPI_ERR_ROOT},
		{"negative receive count", append(all(KindBcast, KindAllgather, KindAlltoall, KindGather, KindScatter),
			reductions[:4]...), 0, func(k *Call) { k.Recv.Count = -1 }, abi.MPI_ERR_COUNT},
		{"negative send count", all(KindGather, KindGatherv, KindScatter, KindAllgather, KindAllgatherv,
			KindAlltoall), 0, func(k *Call) { k.Send.Count = -1 }, abi.MPI_ERR_COUNT},
		{"negative count among many", all(KindGatherv, KindAllgatherv, KindAlltoallv, KindAlltoallw,
			KindReduceScatter), 0, func(k *Call) { k.RecvBlocks.Counts[1] = -1 }, abi.MPI_ERR_COUNT},
		{"negative send count among many", all(KindScatterv, KindAlltoallv, KindAlltoallw), 0,
			func(k *Call) { k.SendBlocks.Counts[1] = -1 }, abi.MPI_ERR_COUNT},
		{"no array", all(KindGatherv, KindAllgatherv, KindAlltoallv, KindAlltoallw, KindReduceScatter), 0,
			func(k *Call) { k.RecvBlocks = Blocks{} }, abi.MPI_ERR_ARG},
		{"too many bytes", all(KindBcast, KindAllreduce, KindReduceScatterBlock), 0,
			func(k *Call) { k.Recv.Count = math.MaxInt64 / 2 }, abi.MPI_ERR_COUNT},
		{"counts that add up to too much", all(KindReduceScatter), 0,
			func(k *Call) { k.RecvBlocks.Counts = []int64{math.MaxInt64, 2} }, abi.MPI_ERR_COUNT},
		{"null receive buffer", append(all(KindBcast, KindGather, KindScatter, KindAllgather, KindAlltoallv),
			reductions[:3]...), 0, func(k *Call) { k.Recv.Addr = 0 }, abi.MPI_ERR_BUFFER},
		{"null send buffer", append(all(KindGather, KindScatter, KindAllgather, KindAlltoallv), reductions...),
			0, func(k *Call) { k.Send.Addr = 0 }, abi.MPI_ERR_BUFFER},
		{"null buffers without data", all(KindBcast, KindGather, KindScatter, KindAllgather, KindAlltoall,
			KindAllreduce), 0, func(k *Call) {
			k.Send.Addr, k.Recv.Addr, k.Send.Count, k.Recv.Count = 0, 0, 0, 0
		}, 0},
		{"what does not count at others than the root", all(KindReduce, KindGather, KindGatherv), 1,
			func(k *Call) {
				k.Recv.Addr, k.RecvBlocks = 0, Blocks{}
				if k.Kind != KindReduce {
					k.Recv = Buffer{}
				}
			}, 0},
		{"MPI_IN_PLACE", append(all(KindGather, KindGatherv, KindAllgather, KindAllgatherv, KindAlltoall,
			KindAlltoallv, KindAlltoallw), reductions...), 0, func(k *Call) {
			k.Send, k.SendBlocks = Buffer{Addr: inPlace}, Blocks{}
		}, 0},
		{"MPI_IN_PLACE to receive", all(KindScatter, KindScatterv), 0,
			func(k *Call) { k.Recv = Buffer{Addr: inPlace} }, 0},
		{"MPI_IN_PLACE to send", all(KindScatter, KindScatterv), 0, func(k *Call) { k.Send.Addr = inPlace },
			abi.MPI_ERR_BUFFER},
		{"MPI_IN_PLACE to receive where it is the send buffer",
			append(all(KindBcast, KindGather, KindAllgather, KindAlltoall), reductions...), 0,
			func(k *Call) {
				k.Recv.Addr = inPlace
			}, abi.MPI_ERR_BUFFER},
		{"MPI_IN_PLACE elsewhere than at the root", all(KindGather, KindGatherv, KindReduce), 1,
			func(k *Call) { k.Send.Addr = inPlace }, abi.MPI_ERR_BUFFER},
		{"MPI_IN_PLACE to receive elsewhere than at the root", all(KindScatter, KindScatterv), 1,
			func(k *Call) { k.Recv.Addr = inPlace }, abi.MPI_ERR_BUFFER},
		{"one buffer twice", append(all(KindGather, KindScatter, KindAllgather, KindAlltoall, KindAlltoallv),
			reductions[:3]...), 0, func(k *Call) { k.Send.Addr = k.Recv.Addr }, abi.MPI_ERR_BUFFER},
		{"less received than sent", all(KindGather, KindScatter, KindAllgather, KindAlltoall), 0,
			func(k *Call) { k.Recv.Count = 2 }, late + abi.MPI_ERR_TRUNCATE},
		{"more received than sent", all(KindGather, KindScatter, KindAllgather, KindAlltoall), 0,
			func(k *Call) { k.Recv.Count = 4 }, late + abi.MPI_ERR_COUNT},
		{"operation not for the type", reductions, 0,
			func(k *Call) { k.Op, k.Recv.Type = ops(abi.MPI_BAND), double }, abi.MPI_ERR_OP},
		{"predefined operation on a derived type", reductions, 0, func(k *Call) { k.Recv.Type = gappy },
			abi.MPI_ERR_OP},
		{"operation of accumulates", reductions, 0, func(k *Call) { k.Op = ops(abi.MPI_REPLACE) },
			abi.MPI_ERR_OP},
		{"no operation", reductions, 0, func(k *Call) { k.Op = nil }, abi.MPI_ERR_OP},
		{"exscan's rank 0 receives nothing", all(KindExscan), 0, func(k *Call) { k.Recv.Addr = 0 }, 0},
		{"reduce_scatter of nothing for this rank", all(KindReduceScatter), 0,
			func(k *Call) { k.RecvBlocks.Counts[0], k.Recv.Addr = 0, 0 }, 0},
	} {
		for _, kind := range c.kinds {
			t.Run(fmt.Sprintf("%v/%s", kind, c.what), func(t *testing.T) {
				k := right(kind, c.rank)
				c.change(&k)
				err := k.Check()
				if c.class > late {
					require.NoError(t, err)
					require.Equal(t, c.class-late, mpierr.ClassOf(k.deferredErr), "%v",
						k.deferredErr)
					return
				}
				require.Equal(t, c.class, mpierr.ClassOf(err), "%v", err)
			})
		}
	}
}
