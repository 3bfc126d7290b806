package insight

// eventRecord takes the place of a function's number in records of events that order the threads of a rank. Such a
// record holds two words for each event: the kind of event with, from bit 8 on, the size of memory; then the object,
// such as a mutex or a thread.
const eventRecord = 0xfffe

// Kinds of events that order a thread with other threads.
const (
	Release = iota // a later acquirer of the object is ordered after all earlier actions of the thread
	Acquire        // the thread is ordered after all actions released through the object
	Fork           // a task that enters the object is ordered after all earlier actions of the thread
	Enter          // later actions of the thread are ordered only after the Fork of the object
	Leave          // the thread releases the object, and continues with its order before Enter
	Drop           // no thread enters the object any longer
	Free           // the object is memory that is freed: earlier accesses to it no longer count
	// the object is memory that is freed while a window uses it: the record's result is the window
	FreeWindow
)

// Event is an action that orders a thread with others.
type Event struct {
	Kind   int
	Object uint64
	Size   uint64 // size of memory
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
