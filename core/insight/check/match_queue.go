package check

import (
	ordered "container/list"

	"gompirma/core/abi"
)

// envelope holds the fields by which messages to a rank are matched. The envelope of a receive may have wildcards.
type envelope struct{ from, tag int }

// matchQueue holds the messages to a rank that wait for a receive, or the receives that wait for a message, in order of
// arrival. The queue may be long, so an index by envelope finds an element without a search.
type matchQueue[T any] struct {
	all        ordered.List
	byEnvelope map[envelope]*ordered.List // elements by envelope
	// byEnvelope also has each element under its envelope with a wildcard for the source, and for the tag. This
	// costs time and memory, so it is true only for messages, after the first receive with one wildcard.
	byWildcards bool
	last        int // number of the newest element; elements are numbered in order of arrival
	visited     int // number of elements that loops over `all` have visited
}

// queued is an element of a matchQueue.
type queued[T any] struct {
	envelope
	item          T
	number        int
	allElem       *ordered.Element    // position in all; nil after removal
	envelopeElems [3]*ordered.Element // positions in the lists of byEnvelope under the envelopes of keys
}

// keys returns the envelopes under which byEnvelope has w.
func (l *matchQueue[T]) keys(w *queued[T]) []envelope {
	if !l.byWildcards {
		return []envelope{w.envelope}
	}
	return []envelope{w.envelope, {abi.MPI_ANY_SOURCE, w.tag}, {w.from, abi.MPI_ANY_TAG}}
}

// indexByWildcards sets byWildcards.
func (l *matchQueue[T]) indexByWildcards() {
	if l == nil || l.byWildcards {
		return
	}
	l.byWildcards = true
	for x := l.all.Front(); x != nil; x = x.Next() {
		l.visited++
		w := x.Value.(*queued[T])
		for i, key := range l.keys(w)[1:] {
			w.envelopeElems[i+1] = l.listOf(key).PushBack(w)
		}
	}
}

func (l *matchQueue[T]) add(w *queued[T], of T) {
	l.last++
	w.item, w.number = of, l.last
	w.allElem = l.all.PushBack(w)
	for i, key := range l.keys(w) {
		w.envelopeElems[i] = l.listOf(key).PushBack(w)
	}
}

func (l *matchQueue[T]) listOf(e envelope) *ordered.List {
	if l.byEnvelope == nil {
		l.byEnvelope = map[envelope]*ordered.List{}
	}
	if l.byEnvelope[e] == nil {
		l.byEnvelope[e] = ordered.New()
	}
	return l.byEnvelope[e]
}

// restore inserts the removed element w at its former position again.
func (l *matchQueue[T]) restore(w *queued[T], of T) {
	w.item = of
	insert := func(all *ordered.List) *ordered.Element {
		for x := all.Front(); x != nil; x = x.Next() {
			if x.Value.(*queued[T]).number > w.number {
				return all.InsertBefore(w, x)
			}
		}
		return all.PushBack(w)
	}
	w.allElem = insert(&l.all)
	for i, key := range l.keys(w) {
		w.envelopeElems[i] = insert(l.listOf(key))
	}
}

// remove removes w, and reports whether it was in the queue.
func (l *matchQueue[T]) remove(w *queued[T]) bool {
	if l == nil || w.allElem == nil {
		return false
	}
	l.all.Remove(w.allElem)
	for i, key := range l.keys(w) {
		same := l.byEnvelope[key]
		if same.Remove(w.envelopeElems[i]); same.Len() == 0 {
			delete(l.byEnvelope, key)
		}
	}
	w.allElem, w.envelopeElems = nil, [3]*ordered.Element{}
	return true
}

// first returns the first element that has one of the given envelopes, or nil if no element has.
func (l *matchQueue[T]) first(some ...envelope) (first *queued[T]) {
	if l == nil {
		return nil
	}
	for _, e := range some {
		if same := l.byEnvelope[e]; same != nil {
			if w := same.Front().Value.(*queued[T]); first == nil || w.number < first.number {
				first = w
			}
		}
	}
	return first
}

// each calls the function `use` with each element in order, until `use` returns true.
func (l *matchQueue[T]) each(use func(T) bool) {
	if l == nil {
		return
	}
	for x := l.all.Front(); x != nil; {
		l.visited++
		next := x.Next()
		if use(x.Value.(*queued[T]).item) {
			return
		}
		x = next
	}
}

// queueAt returns the queue of a rank, and creates it if necessary.
func queueAt[T any](all *map[int]*matchQueue[T], rank int) *matchQueue[T] {
	if *all == nil {
		*all = map[int]*matchQueue[T]{}
	}
	if (*all)[rank] == nil {
		(*all)[rank] = &matchQueue[T]{}
	}
	return (*all)[rank]
}

// messageFor returns the first waiting message that matches a receive with the given envelope; nil if none matches.
func (m *comm) messageFor(at int, e envelope) (found *send) {
	waiting := m.unmatchedSends[at]
	switch anySource, anyTag := e.from == abi.MPI_ANY_SOURCE, e.tag == abi.MPI_ANY_TAG; {
	case anySource && anyTag:
		waiting.each(func(s *send) bool {
			found = s
			return true
		})
		return found
	case anySource || anyTag:
		waiting.indexByWildcards()
	}
	if w := waiting.first(e); w != nil {
		found = w.item
	}
	return found
}

// receiveFor returns the first waiting receive that matches a message; nil if none matches.
func (m *comm) receiveFor(at int, s *send) *receive {
	const source, tag = abi.MPI_ANY_SOURCE, abi.MPI_ANY_TAG
	if w := m.postedReceives[at].first(envelope{s.from, s.tag}, envelope{s.from, tag}, envelope{source, s.tag},
		envelope{source, tag}); w != nil {
		return w.item
	}
	return nil
}

// matchSend matches a new message with a waiting receive, or adds the message to the queue.
func (m *comm) matchSend(to int, s *send) {
	if r := m.receiveFor(to, s); r != nil {
		s.receive, r.send = r, s
		m.postedReceives[to].remove(&r.queued)
		return
	}
	queueAt(&m.unmatchedSends, to).add(&s.queued, s)
}

// matchReceive matches a new receive with a waiting message, or adds the receive to the queue.
func (m *comm) matchReceive(at int, r *receive) {
	if s := m.messageFor(at, r.envelope); s != nil {
		s.receive, r.send = r, s
		m.unmatchedSends[at].remove(&s.queued)
		return
	}
	queueAt(&m.postedReceives, at).add(&r.queued, r)
}
