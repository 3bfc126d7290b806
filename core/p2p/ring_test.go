package p2p

import (
	"encoding/binary"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/shm"
)

// TestRingKeepsOrderOfEachProducer has several producers fill a ring with records of all sizes, whose data looks like
// committed records.
func TestRingKeepsOrderOfEachProducer(t *testing.T) {
	b := alignedBytes(shm.MessageRingSize)
	const producers, each = 4, 20000
	var wg sync.WaitGroup
	for p := 0; p < producers; p++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			out := outbox{b: b}
			for i := 0; i < each; i++ {
				n := int64(recordSize + (i*37+p*11)%(3000))
				var room []byte
				for room == nil {
					if room, _ = out.reserve(n); room == nil {
						runtime.Gosched()
					}
				}
				for o := int64(recordSize); o+8 <= n; o += 8 {
					binary.NativeEndian.PutUint64(room[o:],
						wordCommitted|uint64(kindEager)<<wordKind|recordSize)
				}
				commit(room, &record{src: int32(p), tag: int32(i)}, kindEager, 0, n)
			}
		}()
	}
	in := inbox{b: b}
	var next [producers]int
	for got := 0; got < producers*each; {
		var rec record
		payload, ok, err := in.take(&rec)
		require.NoError(t, err)
		if !ok {
			in.publish()
			runtime.Gosched()
			continue
		}
		if rec.kind() != kindPad {
			p, i := int(rec.src), int(rec.tag)
			require.Equal(t, next[p], i)
			require.Len(t, payload, (i*37+p*11)%3000)
			next[p]++
			got++
		}
		in.drop(rec.length())
		if in.unpublished() > ringData/3 {
			in.publish()
		}
	}
	wg.Wait()
	in.publish()
	require.Equal(t, *u64(b, ringTail), *u64(b, ringHead), "empty")
}

func TestRingIsNeverOverfilled(t *testing.T) {
	b := alignedBytes(shm.MessageRingSize)
	out := outbox{b: b}
	n := 0
	for {
		room, _ := out.reserve(1000)
		if room == nil {
			break
		}
		commit(room, &record{tag: int32(n)}, kindEager, 0, 1000)
		n++
	}
	require.Equal(t, ringData/1024, n)
	in := inbox{b: b}
	for i := 0; i < n; i++ {
		var rec record
		_, ok, err := in.take(&rec)
		require.True(t, ok && err == nil)
		require.Equal(t, int32(i), rec.tag)
		in.drop(rec.length())
	}
	room, _ := out.reserve(1000)
	require.Nil(t, room, "not before the room is announced")
	in.publish()
	room, _ = out.reserve(1000)
	require.NotNil(t, room)
}

func TestRingTellsThoseWhoWait(t *testing.T) {
	b := alignedBytes(shm.MessageRingSize)
	out, in := outbox{b: b}, inbox{b: b}
	require.True(t, out.want(3))
	require.False(t, out.want(3), "recorded already")
	require.True(t, out.want(130))
	require.True(t, in.publish())
	var told []int
	in.waiting(200, func(i int) { told = append(told, i) })
	require.Equal(t, []int{3, 130}, told)
	require.False(t, in.publish())
	require.True(t, out.want(199))
	told = nil
	in.waiting(150, func(i int) { told = append(told, i) })
	require.Empty(t, told, "not a process of this node")
}

// TestRingRefusesDamage puts words into a ring that no producer writes.
func TestRingRefusesDamage(t *testing.T) {
	for _, c := range []struct {
		name string
		word uint64
	}{
		{"not committed", uint64(kindEager)<<wordKind | 100},
		{"no kind", wordCommitted | 100},
		{"unknown kind", wordCommitted | uint64(kindLast)<<wordKind | 100},
		{"shorter than a record", wordCommitted | uint64(kindAck)<<wordKind | recordSize - 1},
		{"beyond the end", wordCommitted | uint64(kindEager)<<wordKind | ringData + 1},
		{"huge", wordCommitted | uint64(kindEager)<<wordKind | 1<<32 - 1},
		{"padding of nothing", wordCommitted | uint64(kindPad)<<wordKind},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := alignedBytes(shm.MessageRingSize)
			atomic.StoreUint64(u64(b, ringHeader), c.word)
			in := inbox{b: b}
			var rec record
			_, ok, err := in.take(&rec)
			require.False(t, ok)
			require.Error(t, err)
		})
	}
}

func TestLayoutOfTheHeader(t *testing.T) {
	require.Zero(t, ringHeader%line)
	require.Zero(t, ringData%line)
	require.LessOrEqual(t, ringHeader+ringData, shm.MessageRingSize)
	require.Less(t, maxRecord*4, ringData)
}
