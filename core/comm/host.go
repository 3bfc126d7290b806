package comm

// MostShared is how many bytes of a member Bcast and Allgather carry.
const MostShared = 40

// Host is what communicators need from the process they live in. core/p2p implements it.
type Host interface {
	// Send sends b to the member of rank dest (of c.Peers()); it may block until the message is received.
	Send(c *Comm, x Context, dest int, tag int32, b []byte) error
	// Recv receives a message of exactly len(b) bytes from the member of rank source.
	Recv(c *Comm, x Context, source int, tag int32, b []byte) error
	// NewID returns a number that no other call in any process of the job returns; its low 4 bits are 0.
	NewID() uint64
	// Node returns a number of the node that the process with world rank w runs on: the same for two processes if
	// and only if they share memory.
	Node(w int32) int
	// TakeBlock returns size bytes of zeroed memory that the processes of this node can share, and their name.
	TakeBlock(size int64) (b []byte, name uint64, err error)
	// OpenBlock returns a block that a process of this node has taken; the process with world rank w is known not
	// to fail at it if BlockOpens says so, here where it is open.
	OpenBlock(name uint64, size int64) ([]byte, error)
	BlockOpens(name uint64, w int32) bool
	// GiveBlock gives a block back, which is open here, when no process uses it any longer. Only its first
	// used bytes hold anything but zeros; -1: that is not known.
	GiveBlock(name uint64, size, used int64)
	// Bcast and Allgather are collectives on an intracommunicator for up to MostShared bytes, which count as calls
	// of the application. False: the communicator has nothing to do them with but messages.
	Bcast(c *Comm, root int, b []byte) (bool, error)
	Allgather(c *Comm, mine []byte) (all []byte, ok bool, err error)
	// Forget drops what the process keeps for the contexts of c.
	Forget(c *Comm)
}
