package check

import (
	ordered "container/list"

	"gompirma/core/abi"
)

// envelope is what messages are matched by at a rank. That of a receive may have wildcards.
type envelope struct{ from, tag int }

func (e envelope) takes(s *send) bool {
	return (e.from == s.from || e.from == abi.MPI_ANY_SOURCE) && (e.tag == s.tag || e.tag == abi.MPI_ANY_TAG)
}

// line has the messages that wait for their receives at a rank, or the receives that wait for messages, in the order in
// which they came. There may be many, so one with a given envelope is found without looking at the others.
type line[T any] struct {
	all  ordered.List
	by   map[envelope]*ordered.List // with one envelope
	last int                        // number
}

// waiter is an element of a line.
type waiter[T any] struct {
	envelope
	of      T
	number  int
	in, its *ordered.Element // of all, and of those with its envelope; nil: it waits no longer
}

// add has w wait behind all others.
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

// restore has w wait again where it did before, or in front of all.
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

// remove has w wait no longer, and reports whether it did.
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

// first returns the first that waits with one of some envelopes; nil: none does.
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

// each calls use with all that wait until it returns true.
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

// lineAt returns the line of a rank.
func lineAt[T any](all *map[int]*line[T], rank int) *line[T] {
	if *all == nil {
		*all = map[int]*line[T]{}
	}
	if (*all)[rank] == nil {
		(*all)[rank] = &line[T]{}
	}
	return (*all)[rank]
}

// messageFor returns the first message that waits at a rank for a receive with an envelope; nil: there is none.
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

// receiveFor returns the first receive at a rank that takes a message; nil: there is none.
func (m *comm) receiveFor(at int, s *send) *receive {
	const source, tag = abi.MPI_ANY_SOURCE, abi.MPI_ANY_TAG
	if w := m.receives[at].first(envelope{s.from, s.tag}, envelope{s.from, tag}, envelope{source, s.tag},
		envelope{source, tag}); w != nil {
		return w.of
	}
	return nil
}

// post adds a message, and gives it to the receive that it is for, if there is one.
func (m *comm) post(to int, s *send) {
	if r := m.receiveFor(to, s); r != nil {
		s.receive, r.send = r, s
		m.receives[to].remove(&r.waiter)
		return
	}
	lineAt(&m.sends, to).add(&s.waiter, s)
}

// expect adds a receive, and gives it the message that is for it, if there is one.
func (m *comm) expect(at int, r *receive) {
	if s := m.messageFor(at, r.envelope); s != nil {
		s.receive, r.send = r, s
		m.sends[at].remove(&s.waiter)
		return
	}
	lineAt(&m.receives, at).add(&r.waiter, r)
}
