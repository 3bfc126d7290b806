package p2p

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"gompirma/core/abi"
	"gompirma/core/mpierr"
	"gompirma/core/proc"
	"gompirma/core/shm"
)

// kept is a Carrier whose sends are under way until the test says that they have left.
type kept struct {
	Carrier
	sends   []*keptSend
	hooks   int
	stepped uint32
}

type keptSend struct {
	Request
	state uint32
}

func (k *kept) AtOnce(Operation) bool { return false }
func (k *kept) Progress() bool        { return false }
func (k *kept) Hooks(n int)           { k.hooks = n }
func (k *kept) Stepped() *uint32      { return &k.stepped }

func (k *kept) Start(Operation) (Request, bool) {
	s := &keptSend{}
	k.sends = append(k.sends, s)
	return s, true
}

// leave ends the oldest send.
func (k *kept) leave() {
	k.sends[0].state = 1 // complete: see core/request
	k.sends = k.sends[1:]
}

func (s *keptSend) State() *uint32     { return &s.state }
func (s *keptSend) IsReceive() bool    { return false }
func (s *keptSend) IsPersistent() bool { return false }
func (s *keptSend) Result() Result     { return Result{} }
func (s *keptSend) Free()              {}

// two is a table of two processes on this node, of which this is the first.
type two struct{ proc.Table }

func (two) Self() int32                  { return 0 }
func (two) At(number int32) proc.Process { return proc.Process{Rank: number, Index: number} }

// TestBufferRoom: the room of a message in an attached buffer is given back when it has left, by whatever makes
// progress, and the hook for that goes with the last message. How the gaps lie does not decide what fits.
func TestBufferRoom(t *testing.T) {
	f, err := shm.CreateControl(2, 1)
	require.NoError(t, err)
	defer f.Close()
	fd, err := unix.Dup(int(f.Fd()))
	require.NoError(t, err)
	nd, err := shm.Open(fd, 0)
	require.NoError(t, err)
	defer nd.Close()
	k := &kept{}
	e, err := New(nd, Config{Size: 2, Processes: two{}, Open: func(*Place) Carrier { return k }})
	require.NoError(t, err)
	const over = abi.MPI_BSEND_OVERHEAD
	mem := make([]byte, 3*(10_000+over))
	require.NoError(t, e.Attach(BufferOf{}, addressOf(mem), int64(len(mem))))
	send := func(n int) error { return e.Send(e.World, 0, Bytes(make([]byte, n)), 1, 0, Buffered) }
	for range 3 {
		require.NoError(t, send(10_000))
	}
	require.Equal(t, int32(abi.MPI_ERR_BUFFER), mpierr.ClassOf(send(0)))
	require.Equal(t, int64(len(mem)), e.process.used)
	flush := e.Iflush(BufferOf{})
	k.leave()
	require.Equal(t, int64(len(mem)), e.process.used)
	require.True(t, e.Progress())
	require.Equal(t, int64(2*(10_000+over)), e.process.used)
	require.NoError(t, send(6_000))
	require.NoError(t, send(4_000-over), "though it does not fit behind the first")
	require.Equal(t, int64(len(mem)), e.process.used)
	require.Equal(t, 1, k.hooks)
	for range 2 {
		require.False(t, flush.IsComplete())
		k.leave()
		e.Progress()
	}
	require.True(t, flush.IsComplete(), "the messages it waits for have left")
	require.Equal(t, int64(10_000+over), e.process.used)
	for range 2 {
		k.leave()
	}
	e.Progress()
	require.Zero(t, e.process.used)
	require.Zero(t, k.hooks)
	runtime.KeepAlive(mem)
}
