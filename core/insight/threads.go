package insight

// orderEvents stands in place of a function's number in records of what orders the threads of a rank: pairs of a word
// that says what a thread does, and above that the size of memory, and one for the object that it does that with, be
// it a mutex or a thread.
const orderEvents = 0xfffe

// What a thread does to be ordered with others.
const (
	Release = iota // who acquires the object comes after what the thread has done
	Acquire        // the thread comes after all that was released by the object
	Fork           // what enters the object comes after what the thread has done up to now
	Enter          // what the thread does from now on comes after that alone
	Leave          // it releases the object, and goes on with what it did before it entered
	Drop           // nothing enters the object any longer
	Free           // the object is memory that is given back: what was done with it does not count any longer
	Give           // the object is memory that is given back although it is a window's: that is the record's result
)

// Event is something that orders a thread.
type Event struct {
	What   int
	Object uint64
	Size   uint64 // of memory
}

// events reads what a record says of events.
func events(words []uint64) (all []Event, err error) {
	for ; len(words) > 0; words = words[2:] {
		if len(words) < 2 || words[0]&0xff > Give {
			return nil, errShort
		}
		all = append(all, Event{int(words[0] & 0xff), words[1], words[0] >> 8})
	}
	return all, nil
}
