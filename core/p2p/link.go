package p2p

// A Link is the way of messages to one peer, a Port where those arrive that come by one kind of link. They carry
// records (record.go) and know nothing of what is in them: the engine writes and reads the same ones whatever carries
// them. Which peer has which link is decided in Engine.newPeer.

// Link takes records to one peer, whole and in the order in which room for them was reserved. No method blocks; all may
// be called by several threads at once. Sizes are in bytes.
type Link interface {
	// MaxRecord is the size of the largest record, at least 2 KiB. It does not change.
	MaxRecord() int64
	// Reserve returns room for a record of n bytes, or nil: there is none now. The caller fills in all but the
	// first word, and publishes soon, since what is reserved later does not arrive before.
	Reserve(n int64) []byte
	// Publish gives the record in room its first word and lets the peer see it.
	Publish(room []byte, word uint64, n Notice)
	// WantRoom has the peer send a record of kindRoom as soon as it has room. False: it has been asked to already.
	// Else the caller tries once more, since there may have been room meanwhile.
	WantRoom() bool
	// Flow returns where the Flow that the peer asks for is read, with atomic operations; always the same place.
	Flow() *uint32
	// Finishing returns whether the peer is in MPI_Finalize and receives nothing any longer.
	Finishing() bool

	// Shows returns whether the peer may be able to Read this process' memory: then messages that stay here say
	// where they lie.
	Shows() bool
	// Reads returns whether Read may work, as far as is known.
	Reads() bool
	// Read copies the first want bytes of segs in the peer's memory to b. It may take long; the engine's lock is
	// not held. refused: that is not possible, and the data has to come in pieces; nothing that matters has been
	// written. MPI_ERR_BUFFER: a buffer is not memory.
	Read(segs []Segment, b *Buffer, want int64) (refused bool, err error)
}

// Notice is how a peer learns of a record.
type Notice uint8

const (
	Call    Notice = iota // if no thread of the peer polls or waits for anything, its agent is called
	IfMany                // so it is if much lies there untaken; else as Quietly
	Quietly               // a thread of the peer that polls or waits sees it, and that is soon enough
)

// Port is where the records arrive that come to this process by one kind of link.
type Port interface {
	// Ready returns whether Drain may find something. It needs no lock, and is called all the time.
	Ready() bool
	// Drain calls handle for each record there is: with its first word as it was published, and all of its bytes,
	// of which there are at least recordSize. handle trusts neither, and reads no byte twice that it decides by;
	// they are the port's again when it returns. When Drain returns there is none left, and whoever sends one from
	// now on gives notice. MPI_ERR_INTERN: what is there cannot be a record; nothing more can be taken. The
	// engine's lock is held.
	Drain(handle func(word uint64, record []byte)) (some bool, err error)
	// Ask tells all who send to this port what to do with their messages. The engine's lock is held.
	Ask(f Flow)
}

// Flow is what a process asks of those who send to it.
type Flow uint32

const (
	SendAlong Flow = iota // small messages come with their data
	KeepBack              // standard sends keep theirs: this process holds too much that nobody has received
)
