package p2p

import (
	"gompirma/core/abi"
)

// A queue holds what one context of a communicator still has to match: receives that wait for messages, and messages
// that wait for receives. Messages match receives in the order in which either came.
type queue struct {
	posted     list[op]
	unexpected list[Message]
	closing    bool // the communicator is freed: the queue goes when no receive is left
}

// entry is a receive or a message in a list. An entry is in one list at most. There may be a million: none has more
// than it needs.
type entry[T any] struct {
	src, tag int32 // of a receive they may be MPI_ANY_SOURCE and MPI_ANY_TAG
	seq      uint64
	// its place in the list; once that has an index, in the fifo of its own source and tag
	link link[T]
	more *[patterns - 1]link[T] // its places in the other fifos: of a message, in a list with an index
	of   *T
}

// link is a place in a list, or in a fifo of its index.
type link[T any] struct {
	prev, next *entry[T]
	in         *fifo[T]
}

// at returns link i of e.
func (e *entry[T]) at(i int) *link[T] {
	if i == 0 {
		return &e.link
	}
	return &e.more[i-1]
}

// list is a list in order of arrival. While it is short it is searched from the front. Once it has grown to indexFrom
// entries it gets an index, which it keeps until it is empty, so that thousands of entries cost no more than few:
//
//   - a receive is found by one key: its own source and tag, wildcards included. A message looks under the four
//     patterns that can receive it and takes the oldest.
//   - a message is found by four keys, the patterns of receives that it can match.
type list[T any] struct {
	all      fifo[T] // while there is no index
	n        int
	seq      uint64
	messages bool // a list of messages, not of receives
	index    map[key]*fifo[T]
}

const (
	indexFrom = 24
	patterns  = 4
)

type key struct{ src, tag int32 }

// fifo holds entries in order of arrival: all of a list, or those of one key.
type fifo[T any] struct {
	first, last *entry[T]
	key         key
	link        int // which of its entries' links are for it
}

// keysOf returns the patterns that an envelope of the given source and tag fits.
func keysOf(src, tag int32) [patterns]key {
	return [patterns]key{{src, tag}, {src, abi.MPI_ANY_TAG}, {abi.MPI_ANY_SOURCE, tag},
		{abi.MPI_ANY_SOURCE, abi.MPI_ANY_TAG}}
}

// accepts returns whether a receive of the given pattern takes a message of that source and tag.
func accepts(src, tag, msgSrc, msgTag int32) bool {
	return (src == msgSrc || src == abi.MPI_ANY_SOURCE) && (tag == msgTag || tag == abi.MPI_ANY_TAG)
}

// add appends e.
func (l *list[T]) add(e *entry[T]) {
	l.seq++
	e.seq = l.seq
	l.n++
	if l.index != nil {
		l.enter(e)
		return
	}
	l.all.append(e)
	if l.n == indexFrom {
		l.index = make(map[key]*fifo[T], patterns*indexFrom)
		for x := l.all.first; x != nil; {
			next := x.link.next
			l.enter(x)
			x = next
		}
		l.all = fifo[T]{}
	}
}

// enter appends e to the fifos that it belongs to.
func (l *list[T]) enter(e *entry[T]) {
	if !l.messages {
		l.fifo(key{e.src, e.tag}, 0).append(e)
		return
	}
	e.more = new([patterns - 1]link[T])
	for i, k := range keysOf(e.src, e.tag) {
		l.fifo(k, i).append(e)
	}
}

func (l *list[T]) fifo(k key, link int) *fifo[T] {
	f := l.index[k]
	if f == nil {
		f = &fifo[T]{key: k, link: link}
		l.index[k] = f
	}
	return f
}

func (f *fifo[T]) append(e *entry[T]) {
	*e.at(f.link) = link[T]{prev: f.last, in: f}
	if f.last != nil {
		f.last.at(f.link).next = e
	} else {
		f.first = e
	}
	f.last = e
}

func (f *fifo[T]) remove(e *entry[T]) {
	x := e.at(f.link)
	if x.prev != nil {
		x.prev.at(f.link).next = x.next
	} else {
		f.first = x.next
	}
	if x.next != nil {
		x.next.at(f.link).prev = x.prev
	} else {
		f.last = x.prev
	}
	*x = link[T]{}
}

// remove takes e out.
func (l *list[T]) remove(e *entry[T]) {
	l.n--
	if l.index == nil {
		l.all.remove(e)
		return
	}
	links := 1
	if l.messages {
		links = patterns
	}
	for i := range links {
		f := e.at(i).in
		if f.remove(e); f.first == nil {
			delete(l.index, f.key)
		}
	}
	e.more = nil
	if l.n == 0 {
		l.index = nil
	}
}

// oldest returns the first entry, nil if there is none. l is a list of messages.
func (l *list[T]) oldest() *entry[T] {
	if l.index == nil {
		return l.all.first
	}
	return l.index[key{abi.MPI_ANY_SOURCE, abi.MPI_ANY_TAG}].first
}

// receiver returns the oldest receive that takes a message of the given source and tag, nil if there is none. l is a
// list of receives.
func (l *list[T]) receiver(src, tag int32) *entry[T] {
	if l.index == nil {
		for e := l.all.first; e != nil; e = e.link.next {
			if accepts(e.src, e.tag, src, tag) {
				return e
			}
		}
		return nil
	}
	var oldest *entry[T]
	for _, k := range keysOf(src, tag) {
		if f := l.index[k]; f != nil && (oldest == nil || f.first.seq < oldest.seq) {
			oldest = f.first
		}
	}
	return oldest
}

// message returns the oldest message that a receive of the given pattern takes, nil if there is none. l is a list of
// messages.
func (l *list[T]) message(src, tag int32) *entry[T] {
	if l.index == nil {
		for e := l.all.first; e != nil; e = e.link.next {
			if accepts(src, tag, e.src, e.tag) {
				return e
			}
		}
		return nil
	}
	if f := l.index[key{src, tag}]; f != nil {
		return f.first
	}
	return nil
}

// find returns the entry of that source and tag that is the wanted one, nil if it is not there. l is a list of
// messages.
func (l *list[T]) find(src, tag int32, wanted func(*T) bool) *T {
	f, i := &l.all, 0
	if l.index != nil {
		if f = l.index[key{src, tag}]; f == nil {
			return nil
		}
		i = f.link
	}
	for e := f.first; e != nil; e = e.at(i).next {
		if e.src == src && e.tag == tag && wanted(e.of) {
			return e.of
		}
	}
	return nil
}
