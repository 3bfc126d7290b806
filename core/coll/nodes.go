package coll

import (
	"gompirma/core/comm"
	"gompirma/core/p2p"
)

// Much data among members on several nodes: those of a node work in their slots, and one speaks for each node in
// messages. What is little goes the same way in C (capi/coll/span.h); calls come here when their members have agreed
// there that it is much.

// mostElement is the largest element that is reduced in slots, even if there is no memory for large ones.
const mostElement = 2 << 10

// nodeFirst returns whether a call on which the members have agreed goes node first. A reduction whose order counts
// needs the ranks of each node to follow each other.
func (k *Call) nodeFirst(o *operands) bool {
	span := k.Comm.Span
	if span == nil {
		return false
	}
	switch k.Kind {
	case KindBcast:
		return true
	case KindReduce, KindAllreduce:
		return (k.Op.Commutative() || span.Regular) && o.red.size <= mostElement
	}
	return false
}

// relay is a link among the members of a communicator that speak for their nodes, by the numbers of those.
type relay struct {
	link
	ranks []int32
}

func (r relay) send(to int, b []byte) (pending, error)   { return r.link.send(int(r.ranks[to]), b) }
func (r relay) recv(from int, b []byte) (pending, error) { return r.link.recv(int(r.ranks[from]), b) }

// overNodes does a call of nodeFirst.
func (e *Engine) overNodes(k *Call, st *state, o *operands) error {
	c, span, root := k.Comm, k.Comm.Span, 0
	n, place := c.Sharers()
	speakers, speaker := span.Leaders, 0 // of all nodes, and the place of ours
	if k.Kind != KindAllreduce {
		root = int(span.NodeOf[k.Root])
		speakers = append([]int32(nil), speakers...)
		speakers[root] = k.Root
		if root == span.Node {
			for c.Sharer(speaker) != int(k.Root) {
				speaker++
			}
		}
	}
	speaks := place == speaker
	st.sequence++
	s := newSchedule(relay{&channel{e.msg, c, comm.Collective, tag(st.sequence), p2p.Standard}, speakers},
		span.Node, len(speakers))
	s.foreign = e.onAgent
	onNode := func(kind Kind, in, out []byte) error {
		if n == 1 {
			return nil
		}
		x, _ := k.exchange(o)
		x.Kind, x.Root, x.Bytes, x.In, x.Out = kind, speaker, max(len(in), len(out)), in, out
		_, err := st.slots.RunOnNode(&x)
		return err
	}
	red := new(reducer)
	*red = o.red
	own := o.in
	if k.Kind != KindBcast && n > 1 {
		var sum []byte
		switch {
		case speaks && k.Kind == KindAllreduce:
			sum = o.out
		case speaks:
			sum = room(len(own))
		}
		if err := onNode(KindReduce, own, sum); err != nil {
			return err
		}
		own = sum
	}
	if speaks {
		switch v := s.local; k.Kind {
		case KindBcast:
			v.bcast(o.out, root)
		case KindReduce:
			if acc := v.reduce(red, own, root); v.rank == root {
				v.copy(o.out, acc)
			}
		case KindAllreduce:
			v.allreduce(red, own, o.out)
		}
		if err := e.run(s, c); err != nil {
			return err
		}
	}
	if k.Kind == KindReduce {
		return nil
	}
	return onNode(KindBcast, nil, o.out)
}
