package check

import (
	"strings"

	"gompirma/core/abi"
	"gompirma/core/insight"
)

// enterBuffers notes what a call of messages or of a collective reads and writes.
func (c *Checker) enterBuffers(k *rank, e *event) {
	base := strings.TrimPrefix(e.name, "MPI_")
	if strings.HasSuffix(base, "_init") {
		return
	}
	if len(base) > 1 && base[0] == 'I' {
		base = strings.ToUpper(base[1:2]) + base[2:]
	}
	m := k.comm(e.In("comm").Uint())
	local := base == "Pack" || base == "Unpack" || base == "Pack_external" || base == "Unpack_external" ||
		base == "Reduce_local" || base == "Mrecv"
	if m == nil && !local {
		return
	}
	add := func(what kind, address, count, datatype string, times int) {
		a := k.buffer(k.site(e), what, e.In(address).Uint(), e.In(count).Uint()*uint64(times),
			e.In(datatype).Uint())
		if a == nil {
			return
		}
		c.add(k.number, a, k.clock)
		c.stores(k, a)
		e.call.buffers = append(e.call.buffers, a)
	}
	lists := func(what kind, address, counts, displs, datatype string) {
		t := k.typeOf(e.In(datatype).Uint())
		if t == nil || inPlace(e.In(address).Uint()) {
			return
		}
		var spans []span
		for i, n := range e.In(counts).Words {
			at := int64(0)
			if d := e.In(displs).Words; i < len(d) {
				at = int64(d[i]) * t.Extent()
			}
			spans = append(spans, k.spansOf(e.In(address).Uint()+uint64(at), int64(n),
				e.In(datatype).Uint())...)
		}
		if spans = merged(spans); len(spans) > 0 && spans[0].low >= 4096 {
			a := &access{site: k.site(e), kind: what, spans: spans, held: k.held}
			c.add(k.number, a, k.clock)
			e.call.buffers = append(e.call.buffers, a)
		}
	}
	n, root := 1, false
	if m != nil {
		n = len(m.members)
		if len(m.remote) > 0 {
			n = len(m.remote)
		}
		root = m.world(k, int(e.In("root").Int())) == k.number
		if len(m.remote) > 0 {
			root = e.In("root").Int() == abi.MPI_ROOT
		}
	}
	inter := m != nil && len(m.remote) > 0
	if inter && e.In("root").Given() && len(e.In("root").Words) > 0 && e.In("root").Int() == abi.MPI_PROC_NULL {
		return
	}
	switch base {
	case "Send", "Bsend", "Ssend", "Rsend":
		add(reads, "buf", "count", "datatype", 1)
	case "Pack", "Pack_external":
		add(reads, "inbuf", "incount", "datatype", 1)
	case "Unpack", "Unpack_external":
		add(writes, "outbuf", "outcount", "datatype", 1)
	case "Reduce_local":
		add(reads, "inbuf", "count", "datatype", 1)
		add(writes, "inoutbuf", "count", "datatype", 1)
	case "Recv", "Mrecv":
		add(writes, "buf", "count", "datatype", 1)
	case "Sendrecv":
		add(reads, "sendbuf", "sendcount", "sendtype", 1)
		add(writes, "recvbuf", "recvcount", "recvtype", 1)
	case "Sendrecv_replace":
		add(writes, "buf", "count", "datatype", 1)
	case "Bcast":
		if root {
			add(reads, "buffer", "count", "datatype", 1)
		} else {
			add(writes, "buffer", "count", "datatype", 1)
		}
	case "Allreduce", "Scan", "Exscan", "Reduce_scatter_block":
		times := 1
		if base == "Reduce_scatter_block" {
			times = n
		}
		count := "count"
		if len(e.In("recvcount").Words) > 0 {
			count = "recvcount"
		}
		add(reads, "sendbuf", count, "datatype", times)
		add(writes, "recvbuf", count, "datatype", 1)
	case "Reduce":
		add(reads, "sendbuf", "count", "datatype", 1)
		if root {
			add(writes, "recvbuf", "count", "datatype", 1)
		}
	case "Gather":
		add(reads, "sendbuf", "sendcount", "sendtype", 1)
		if root {
			add(writes, "recvbuf", "recvcount", "recvtype", n)
		}
	case "Scatter":
		if root {
			add(reads, "sendbuf", "sendcount", "sendtype", n)
		}
		add(writes, "recvbuf", "recvcount", "recvtype", 1)
	case "Allgather":
		add(reads, "sendbuf", "sendcount", "sendtype", 1)
		add(writes, "recvbuf", "recvcount", "recvtype", n)
	case "Alltoall":
		add(reads, "sendbuf", "sendcount", "sendtype", n)
		add(writes, "recvbuf", "recvcount", "recvtype", n)
	case "Gatherv":
		add(reads, "sendbuf", "sendcount", "sendtype", 1)
		if root {
			lists(writes, "recvbuf", "recvcounts", "displs", "recvtype")
		}
	case "Scatterv":
		if root {
			lists(reads, "sendbuf", "sendcounts", "displs", "sendtype")
		}
		add(writes, "recvbuf", "recvcount", "recvtype", 1)
	case "Allgatherv":
		add(reads, "sendbuf", "sendcount", "sendtype", 1)
		lists(writes, "recvbuf", "recvcounts", "displs", "recvtype")
	case "Alltoallv":
		lists(reads, "sendbuf", "sendcounts", "sdispls", "sendtype")
		lists(writes, "recvbuf", "recvcounts", "rdispls", "recvtype")
	}
}

// leaveBuffers ends the use of a call's buffers, unless a request has it.
func (c *Checker) leaveBuffers(k *rank, e *event) {
	if h := e.Out("request"); h.Given() && h.Item.Form == insight.List && strings.HasPrefix(e.name, "MPI_I") {
		return
	}
	for _, a := range e.call.buffers {
		c.endAccess(a, k.now())
	}
	e.call.buffers = nil
}

// stores notes that a call writes to window memory of its own rank.
func (c *Checker) stores(k *rank, a *access) {
	if a.kind != writes {
		return
	}
	for _, w := range k.wins {
		for i, r := range w.meets.members {
			if p := &w.parts[i]; r == k.number && p.base < a.high() && a.low() < p.base+p.size {
				w.stored[k.number] = a.site
			}
		}
	}
}
