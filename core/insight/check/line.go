package check

import (
	ordered "container/list"

	"gompirma/core/abi"
)

// envelope holds the fields by which messages are matched at a rank. A receive's envelope may have wildcards.
type envelope struct{ from, tag int }

func (e envelope) takes(s *send) bool {
	return (e.from == s.from || e.from == abi.MPI_ANY_SOURCE) && (e.tag == s.tag || e.tag == abi.MPI_ANY_TAG)
}

// line holds the messages at a rank that wait for a receive, or the receives that wait for a message, in order of
// arrival. It may be long, so an index finds an element with a given envelope without a search.
type line[T any] struct {
	all  ordered.List
	by   map[envelope]*ordered.List // elements by envelope
	last int                        // number of the newest element
}

// waiter is an element of a line.
type waiter[T any] struct {
	envelope
	of      T
	number  int
	in, its *ordered.Element // positions in line.all and line.by; nil if it waits no longer
}

// add appends w to the line.
func (l *line[T]) add(w *waiter[T], of T) {
	l.last++
	w.of, w.number = of, l.last
	w.in = l.all.PushBack(w)
	w.its = l.with(w.envelope).PushBack(w)
}

func (l *line[T]) with(e envelope) *ordered.List {
	if l.by == nil {
		l.by = map[envelope]*ordered.List{}
	}
	if l.by[e] == nil {
		l.by[e] = ordered.New()
	}
	return l.by[e]
}

// restore inserts w again at its former position.
func (l *line[T]) restore(w *waiter[T], of T) {
	w.of = of
	insert := func(all *ordered.List) *ordered.Element {
		for x := all.Front(); x != nil; x = x.Next() {
			if x.Value.(*waiter[T]).number > w.number {
				return all.InsertBefore(w, x)
			}
		}
		return all.PushBack(w)
	}
	w.in, w.its = insert(&l.all), insert(l.with(w.envelope))
}

// remove removes w, and reports whether it was in the line.
func (l *line[T]) remove(w *waiter[T]) bool {
	if l == nil || w.in == nil {
		return false
	}
	l.all.Remove(w.in)
	same := l.by[w.envelope]
	if same.Remove(w.its); same.Len() == 0 {
		delete(l.by, w.envelope)
	}
	w.in, w.its = nil, nil
	return true
}

// first returns the first element with one of the given envelopes; nil if there is none.
func (l *line[T]) first(some ...envelope) (first *waiter[T]) {
	if l == nil {
		return nil
	}
	for _, e := range some {
		if same := l.by[e]; same != nil {
			if w := same.Front().Value.(*waiter[T]); first == nil || w.number < first.number {
				first = w
			}
		}
	}
	return first
}

// each calls use with all elements until use returns true.
func (l *line[T]) each(use func(T) bool) {
	if l == nil {
		return
	}
	for x := l.all.Front(); x != nil; {
		next := x.Next()
		if use(x.Value.(*waiter[T]).of) {
			return
		}
		x = next
	}
}

// lineAt returns the line of a rank, and creates it if necessary.
func lineAt[T any](all *map[int]*line[T], rank int) *line[T] {
	if *all == nil {
		*all = map[int]*line[T]{}
	}
	if (*all)[rank] == nil {
		(*all)[rank] = &line[T]{}
	}
	return (*all)[rank]
}

// messageFor returns the first waiting message that matches a receive with the given envelope; nil if there is none.
func (m *comm) messageFor(at int, e envelope) (found *send) {
	if e.from != abi.MPI_ANY_SOURCE && e.tag != abi.MPI_ANY_TAG {
		if w := m.sends[at].first(e); w != nil {
			return w.of
		}
		return nil
	}
	m.sends[at].each(func(s *send) bool {
		if e.takes(s) {
			found = s
		}
		return found != nil
	})
	return found
}

// receiveFor returns the first waiting receive that matches a message; nil if there is none.
func (m *comm) receiveFor(at int, s *send) *receive {
	const source, tag = abi.MPI_ANY_SOURCE, abi.MPI_ANY_TAG
	if w := m.receives[at].first(envelope{s.from, s.tag}, envelope{s.from, tag}, envelope{source, s.tag},
		envelope{source, tag}); w != nil {
		return w.of
	}
	return nil
}

// post matches a new message with a waiting receive, or adds it to the line.
func (m *comm) post(to int, s *send) {
	if r := m.receiveFor(to, s); r != nil {
		s.receive, r.send = r, s
		m.receives[to].remove(&r.waiter)
		return
	}
	lineAt(&m.sends, to).add(&s.waiter, s)
}

// expect matches a new receive with a waiting message, or adds it to the line.
func (m *comm) expect(at int, r *receive) {
	if s := m.messageFor(at, r.envelope); s != nil {
		s.receive, r.send = r, s
		m.sends[at].remove(&s.waiter)
		return
	}
	lineAt(&m.receives, at).add(&r.waiter, r)
}
