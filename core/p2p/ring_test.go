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
			out := ringLink{b: b}
			for i := 0; i < each; i++ {
				n := int64(recordSize + (i*37+p*11)%(3000))
				var room []byte
				for room == nil {
					if room = out.Reserve(n); room == nil {
						runtime.Gosched()
					}
				}
				for o := int64(recordSize); o+8 <= n; o += 8 {
					binary.NativeEndian.PutUint64(room[o:],
						firstWord(kindEager, 0, recordSize))
				}
				h := record{src: int32(p), tag: int32(i)}
				h.fill(room)
				commit(room, firstWord(kindEager, 0, n))
			}
		}()
	}
	in := inbox{b: b}
	var next [producers]int
	for got := 0; got < producers*each; {
		word, bytes, err := in.take()
		require.NoError(t, err)
		if word == 0 {
			in.publish()
			runtime.Gosched()
			continue
		}
		if kindOf(word) != kindPad {
			rec := recordAt(bytes, 0)
			p, i := int(rec.src), int(rec.tag)
			require.Equal(t, next[p], i)
			require.Len(t, bytes, recordSize+(i*37+p*11)%3000)
			next[p]++
			got++
		}
		in.drop(lengthOf(word))
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
	out := ringLink{b: b}
	n := 0
	for {
		room := out.Reserve(1000)
		if room == nil {
			break
		}
		h := record{tag: int32(n)}
		h.fill(room)
		commit(room, firstWord(kindEager, 0, 1000))
		n++
	}
	require.Equal(t, ringData/1024, n)
	in := inbox{b: b}
	for i := 0; i < n; i++ {
		word, bytes, err := in.take()
		require.NoError(t, err)
		require.Equal(t, int32(i), recordAt(bytes, 0).tag)
		in.drop(lengthOf(word))
	}
	require.Nil(t, out.Reserve(1000), "not before the room is announced")
	in.publish()
	require.NotNil(t, out.Reserve(1000))
}

func TestRingTellsThoseWhoWait(t *testing.T) {
	b := alignedBytes(shm.MessageRingSize)
	out, in := ringLink{b: b}, inbox{b: b}
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
			word, _, err := in.take()
			require.Zero(t, word)
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
