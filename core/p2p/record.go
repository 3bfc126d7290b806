package p2p

// recordSize is the size of the fixed part of a record.
const recordSize = 48

// kind says what a record is.
type kind uint8

const (
	kindPad    kind = 1 + iota // a ring's own: fills the end of the data
	kindEager                  // a message with its data
	kindRTS                    // a message whose data stays with the sender until it is matched ("ready to send")
	kindCTS                    // to the sender: send the data as pieces
	kindPiece                  // a part of the data
	kindAck                    // to the sender: the message is matched (eager) or its data has been taken
	kindBlock                  // to the process that reserved a control block: nobody uses it any longer
	kindRoom                   // to a process that waited for room: there is some
	kindCancel                 // to the receiver: the message is not wanted any longer
	kindGone                   // to the sender: the message is not here any longer
	kindLook                   // to the receiver: the message's sender waits for it to be taken
	kindLast
)

// Bits of a record's first word: 0..31 length in bytes, 32..39 kind, 40..47 flags, 63 set.
const (
	wordKind      = 32
	wordFlags     = 40
	wordCommitted = 1 << 63

	flagSync = 1 // eager: the sender waits for an acknowledgement
	flagAddr = 2 // RTS: the payload is a list of segments of the sender's memory
	flagCall = 4 // eager with flagSync, RTS: the sender's process is to look at the acknowledgement at once
	flagWait = 8 // RTS: the sender waits for the message to be taken
)

// record is the fixed part of a record, as links carry it.
type record struct {
	word  uint64
	ctx   uint64 // context; kindPiece: offset of the piece; kindBlock: offset of the block
	src   int32  // rank of the sender in the communicator
	tag   int32
	from  int32  // world rank of the sending process
	class int32  // kindAck: error class, 0: none
	size  uint64 // bytes of the whole message; kindCTS: bytes wanted; kindBlock: size of the block
	// of the request that answers go to; kindCTS, kindPiece, kindAck, kindGone: of the request this is for
	id uint64
}

// firstWord is the first word of a record of n bytes. It is never 0.
func firstWord(k kind, flags uint8, n int64) uint64 {
	return wordCommitted | uint64(flags)<<wordFlags | uint64(k)<<wordKind | uint64(n)
}

func kindOf(word uint64) kind    { return kind(word >> wordKind) }
func lengthOf(word uint64) int64 { return int64(uint32(word)) }

func (r *record) kind() kind   { return kindOf(r.word) }
func (r *record) flags() uint8 { return uint8(r.word >> wordFlags) }
