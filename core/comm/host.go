package comm

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
	// NewBlock reserves size bytes of zeroed memory that the processes of this node can map, and returns its
	// offset.
	NewBlock(size int64) (off int64, err error)
	// MapBlock maps a block that a process of this node reserved.
	MapBlock(off, size int64) ([]byte, error)
	// DropBlock unmaps a block (b may be nil: not mapped). owner is the world rank of the process that reserved it;
	// last says that no process will use it any longer, so that its memory is given back.
	DropBlock(b []byte, owner int32, off, size int64, last bool)
	// Forget drops what the process keeps for the contexts of c.
	Forget(c *Comm)
}
