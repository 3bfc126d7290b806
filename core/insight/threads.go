package insight

// eventRecord stands in a record in place of a function's number. Such a record lists events that order the threads of
// a rank, with two words for each event. The first word is the kind of event; from bit 8 on it holds the size, if the
// object is memory. The second word is the object, such as a mutex or a thread.
const eventRecord = 0xfffe

// Kinds of events that order a thread with other threads.
const (
	Release = iota // a thread that later acquires the object is ordered after all earlier actions of this thread
	Acquire        // this thread is ordered after all actions that were released through the object
	Fork           // a task that enters the object is ordered after all earlier actions of this thread
	Enter          // a task begins in this thread, ordered after the object's Fork but not after earlier actions
	Leave          // this thread releases the object, and continues with the order that it had before Enter
	Drop           // no later Enter names this object
	Free           // the object is memory that is freed: earlier accesses to it conflict with no later one
	// The object is memory that is freed while a window uses it. The result in the record is the window.
	FreeWindow
)

// Event is an action that orders a thread with other threads.
type Event struct {
	Kind   int
	Object uint64
	Size   uint64 // size of the object in bytes if it is memory
}

func decodeEvents(words []uint64) (all []Event, err error) {
	for ; len(words) > 0; words = words[2:] {
		if len(words) < 2 || words[0]&0xff > FreeWindow {
			return nil, errShort
		}
		all = append(all, Event{int(words[0] & 0xff), words[1], words[0] >> 8})
	}
	return all, nil
}
