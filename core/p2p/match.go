package p2p

import (
	"gompirma/core/abi"
)

// A queue holds what one context of a communicator still has to match: receives that wait for messages, and messages that wait for receives.
// Messages match receives in the order in which either came.
type queue struct {
	posted     list
	unexpected list
	closing    bool // the communicator is freed: the queue goes when no receive is left
}

// entry is a receive or a message in a list. An entry is in one list at most.
type entry struct {
	src, tag   int32 // of a receive they may be MPI_ANY_SOURCE and MPI_ANY_TAG
	seq        uint64
	prev, next *entry
	keyed      *[patterns]keyed // its places in the index; nil while the list has none
	op         *op              // the receive
	msg        *Message         // or the message
}

// list is a list in order of arrival. While it is short it is searched from the front. Once it has grown to indexFrom entries it gets an index, which
// it keeps until it is empty, so that thousands of entries cost no more than few:
//
//   - a receive is found by one key: its own source and tag, wildcards included. A message looks under the four patterns that can receive it
//     and takes the oldest.
//   - a message is found by four keys, the patterns of receives that it can match.
type list struct {
	first, last *entry
	n           int
	seq         uint64
	messages    bool // a list of messages, not of receives
	index       map[key]*fifo
}

const (
	indexFrom = 24
	patterns  = 4
)

type key struct{ src, tag int32 }

// keyed is an entry's place in one of the index's fifos.
type keyed struct {
	prev, next *keyed
	entry      *entry
	in         *fifo
}

// fifo holds the entries of one key in order of arrival.
type fifo struct {
	first, last *keyed
	key         key
}

// keysOf returns the patterns that an envelope of the given source and tag fits.
func keysOf(src, tag int32) [patterns]key {
	return [patterns]key{{src, tag}, {src, abi.MPI_ANY_TAG}, {abi.MPI_ANY_SOURCE, tag}, {abi.MPI_ANY_SOURCE, abi.MPI_ANY_TAG}}
}

// accepts returns whether a receive of the given pattern takes a message of that source and tag.
func accepts(src, tag, msgSrc, msgTag int32) bool {
	return (src == msgSrc || src == abi.MPI_ANY_SOURCE) && (tag == msgTag || tag == abi.MPI_ANY_TAG)
}

// add appends e.
func (l *list) add(e *entry) {
	l.seq++
	e.seq = l.seq
	e.prev, e.next = l.last, nil
	if l.last != nil {
		l.last.next = e
	} else {
		l.first = e
	}
	l.last = e
	l.n++
	switch {
	case l.index != nil:
		l.enter(e)
	case l.n == indexFrom:
		l.index = make(map[key]*fifo, patterns*indexFrom)
		for x := l.first; x != nil; x = x.next {
			l.enter(x)
		}
	}
}

func (l *list) enter(e *entry) {
	e.keyed = new([patterns]keyed)
	if !l.messages {
		l.append(&e.keyed[0], e, key{e.src, e.tag})
		return
	}
	for i, k := range keysOf(e.src, e.tag) {
		l.append(&e.keyed[i], e, k)
	}
}

func (l *list) append(x *keyed, e *entry, k key) {
	f := l.index[k]
	if f == nil {
		f = &fifo{key: k}
		l.index[k] = f
	}
	x.entry, x.in, x.prev = e, f, f.last
	if f.last != nil {
		f.last.next = x
	} else {
		f.first = x
	}
	f.last = x
}

// remove takes e out.
func (l *list) remove(e *entry) {
	if e.prev != nil {
		e.prev.next = e.next
	} else {
		l.first = e.next
	}
	if e.next != nil {
		e.next.prev = e.prev
	} else {
		l.last = e.prev
	}
	e.prev, e.next = nil, nil
	l.n--
	if l.index == nil {
		return
	}
	for i := range e.keyed {
		x := &e.keyed[i]
		f := x.in
		if f == nil {
			break
		}
		if x.prev != nil {
			x.prev.next = x.next
		} else {
			f.first = x.next
		}
		if x.next != nil {
			x.next.prev = x.prev
		} else {
			f.last = x.prev
		}
		if f.first == nil {
			delete(l.index, f.key)
		}
	}
	e.keyed = nil
	if l.n == 0 {
		l.index = nil
	}
}

// receiver returns the oldest receive that takes a message of the given source and tag, nil if there is none. l is a list of receives.
func (l *list) receiver(src, tag int32) *entry {
	if l.index == nil {
		for e := l.first; e != nil; e = e.next {
			if accepts(e.src, e.tag, src, tag) {
				return e
			}
		}
		return nil
	}
	var oldest *entry
	for _, k := range keysOf(src, tag) {
		if f := l.index[k]; f != nil && (oldest == nil || f.first.entry.seq < oldest.seq) {
			oldest = f.first.entry
		}
	}
	return oldest
}

// message returns the oldest message that a receive of the given pattern takes, nil if there is none. l is a list of messages.
func (l *list) message(src, tag int32) *entry {
	if l.index == nil {
		for e := l.first; e != nil; e = e.next {
			if accepts(src, tag, e.src, e.tag) {
				return e
			}
		}
		return nil
	}
	if f := l.index[key{src, tag}]; f != nil {
		return f.first.entry
	}
	return nil
}

// find returns the message of that source and tag that is the wanted one, nil if it is not there. l is a list of messages.
func (l *list) find(src, tag int32, wanted func(*Message) bool) *Message {
	if l.index == nil {
		for e := l.first; e != nil; e = e.next {
			if e.src == src && e.tag == tag && wanted(e.msg) {
				return e.msg
			}
		}
		return nil
	}
	if f := l.index[key{src, tag}]; f != nil {
		for x := f.first; x != nil; x = x.next {
			if wanted(x.entry.msg) {
				return x.entry.msg
			}
		}
	}
	return nil
}
