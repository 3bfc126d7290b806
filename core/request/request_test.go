package request

import (
	"encoding/binary"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
	"gompirma/core/mpierr"
)

// counted is an operation that counts its releases.
type counted struct {
	None
	releases, queries int
}

func (c *counted) Release() error { c.releases++; return nil }
func (c *counted) Query(st *Status) error {
	c.queries++
	st.Tag = 77
	return nil
}

func TestFinishReleases(t *testing.T) {
	c := &counted{}
	r := &Request{Op: c, Kind: Receive, Status: Status{Source: 1, Tag: 2, Bytes: 3}}
	require.False(t, r.IsComplete())
	r.Complete()
	require.True(t, r.IsComplete())
	var st Status
	freed, err := r.Finish(&st)
	require.NoError(t, err)
	require.True(t, freed)
	require.Equal(t, Status{Source: 1, Tag: 2, Bytes: 3}, st)
	require.Equal(t, 1, c.releases)
	require.Zero(t, c.queries, "only those whose life is elsewhere are asked")
}

func TestPersistentStays(t *testing.T) {
	c := &counted{}
	r := &Request{Op: c, Persistent: true}
	r.SetInactive()
	for i := 0; i < 3; i++ {
		require.True(t, r.Inactive())
		r.SetActive()
		r.Err = mpierr.New(abi.MPI_ERR_TRUNCATE, "too long")
		r.Complete()
		freed, err := r.Finish(nil)
		require.False(t, freed)
		require.Equal(t, int32(abi.MPI_ERR_TRUNCATE), mpierr.ClassOf(err))
	}
	require.Zero(t, c.releases)
	require.NoError(t, r.Free())
	require.Equal(t, 1, c.releases)
}

// TestOnComplete checks that f is called once for each start, whether OnComplete or Complete comes last.
func TestOnComplete(t *testing.T) {
	for i := 0; i < 2000; i++ {
		r := &Request{}
		var told atomic.Int32
		var wg sync.WaitGroup
		wg.Add(1)
		go func() { defer wg.Done(); r.Complete() }()
		r.OnComplete(func() { told.Add(1) })
		wg.Wait()
		require.Equal(t, int32(1), told.Load())
		r.SetActive()
		r.Complete()
		require.Equal(t, int32(2), told.Load())
	}
}

// TestFreeAndCompleteAtOnce checks that exactly one of the two releases the request.
func TestFreeAndCompleteAtOnce(t *testing.T) {
	for i := 0; i < 2000; i++ {
		c := &counted{}
		r := &Request{Op: c}
		var wg sync.WaitGroup
		wg.Add(1)
		go func() { defer wg.Done(); r.Complete() }()
		require.NoError(t, r.Free())
		wg.Wait()
		require.Equal(t, 1, c.releases)
	}
}

func TestCompletedCostsNothing(t *testing.T) {
	for i := 0; i < 3; i++ {
		st := Status{}
		require.True(t, Completed.IsComplete())
		freed, err := Completed.Finish(&st)
		require.True(t, freed)
		require.NoError(t, err)
		require.Equal(t, Empty, st)
		require.NoError(t, Completed.Free())
	}
}

// raw is not on a stack, since a stack may move.
var raw []uint64

// TestStatusLayout compares with the layout that status.go describes, byte by byte.
func TestStatusLayout(t *testing.T) {
	raw = make([]uint64, StatusSize/8+1)
	b := unsafe.Slice((*byte)(unsafe.Pointer(&raw[0])), StatusSize+8)
	for i := range b {
		b[i] = 0xEE
	}
	at := uintptr(unsafe.Pointer(&raw[0]))
	st := Status{Source: 3, Tag: 1 << 30, Error: 15, Cancelled: true, Bytes: 5<<32 | 7}
	st.Store(at)
	le := binary.LittleEndian
	require.Equal(t, uint32(3), le.Uint32(b[0:]))
	require.Equal(t, uint32(1<<30), le.Uint32(b[4:]))
	require.Equal(t, uint32(0xEEEEEEEE), le.Uint32(b[8:]), "MPI_ERROR is not touched")
	require.Equal(t, uint32(1), le.Uint32(b[12:]))
	require.Equal(t, uint64(5<<32|7), le.Uint64(b[16:]))
	require.Equal(t, uint64(0xEEEEEEEEEEEEEEEE), le.Uint64(b[StatusSize:]), "nothing behind it")
	st.Store(0) // MPI_STATUS_IGNORE
}
