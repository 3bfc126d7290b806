package comm

// MaxShortBytes is the maximum number of bytes of a Host.Bcast, and of each member's contribution to a Host.Allgather.
const MaxShortBytes = 40

// Host is what communicators need from their process. core/p2p implements it.
type Host interface {
	// Send sends b to the member of rank dest in c.Peers(). It may block until the message is received.
	Send(c *Comm, x Context, dest int, tag int32, b []byte) error
	// Recv receives a message of exactly len(b) bytes from the member of rank source. It also ends if one of the
	// processes in `team` (numbers) fails; nil if they are unknown.
	Recv(c *Comm, x Context, source int, tag int32, b []byte, team []int32) error
	// NewID returns a number that no other call in any process of the job returns; its low 4 bits are 0.
	NewID() uint64
	// Node returns the number of the node on which process w (package proc) runs. Two processes have the same
	// node number if and only if they share memory.
	Node(w int32) int
	// Identify returns, for process w, the number of its universe and its number in the universe. All
	// processes use the same ones. Find is the inverse; it returns false if this process does not know the process.
	Identify(w int32) (universe uint64, number uint32)
	Find(universe uint64, number uint32) (w int32, ok bool)
	// AllocBlock allocates size bytes of zeroed memory that the processes of this node can share, and returns the
	// memory and its name.
	AllocBlock(size int64) (b []byte, name uint64, err error)
	// OpenBlock maps a block that a process of this node has allocated, and returns its memory. BlockMapped returns
	// whether process w has mapped this memory; OpenBlock cannot fail in that process.
	// Precondition of BlockMapped: the block is open in this process.
	OpenBlock(name uint64, size int64) ([]byte, error)
	BlockMapped(name uint64, w int32) bool
	// FreeBlock frees a block that no process uses any longer. Preconditions: the block is open in this process,
	// and only its first `used` bytes may differ from zero. The argument `used` is -1 if their number is unknown.
	FreeBlock(name uint64, size, used int64)
	// Bcast and Allgather are collectives on an intracommunicator for up to MaxShortBytes bytes. The library orders
	// them like collective calls of the application. They return false if the members of c can communicate only by
	// messages.
	Bcast(c *Comm, root int, b []byte) (bool, error)
	Allgather(c *Comm, mine []byte) (all []byte, ok bool, err error)
	// Failed returns whether the process with the number w is known to have failed. Wake wakes the process if it is
	// on this node and waits.
	Failed(w int32) bool
	Wake(w int32)
	// AwaitSurvivors waits until the function done returns true. No failure of a process ends the wait, but each
	// failure makes it call done.
	AwaitSurvivors(done func() bool) error
	// RequestDelivery asks a process on another node to acknowledge the messages that this process has sent to it.
	// The function that it returns returns true if they have arrived, or the process has failed.
	RequestDelivery(w int32) (isDelivered func() bool)
	// RecvUnless receives a message of len(b) bytes with any tag from any member. It returns false if the function
	// stop returns true before a message has arrived. It receives messages that have arrived before the call, also
	// if stop returns true at once. No failure of a process ends the wait.
	RecvUnless(c *Comm, x Context, b []byte, stop func() bool) (received bool, err error)
	// Forget frees what the process stores for the contexts of c.
	Forget(c *Comm)
}
