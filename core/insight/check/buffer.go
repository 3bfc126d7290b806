package check

import (
	"strings"

	"gompirma/core/abi"
	"gompirma/core/insight"
)

// enterBuffers records the buffers that a message call, a collective or an access to a file reads and writes. isStart
// is true if the call starts a persistent request.
func (c *Checker) enterBuffers(k *rank, e *event, isStart bool) {
	base := strings.TrimPrefix(e.name, "MPI_")
	if strings.HasSuffix(base, "_init") {
		return
	}
	isAsync := isStart
	if len(base) > 1 && base[0] == 'I' {
		isAsync = true
		base = strings.ToUpper(base[1:2]) + base[2:]
	}
	file, isFile := splitFileAccess(e.name)
	isAsync = isAsync || file.isAsync
	m := k.commOf(e.In("comm").Uint())
	local := isFile || base == "Pack" || base == "Unpack" || base == "Pack_external" || base == "Unpack_external" ||
		base == "Reduce_local" || base == "Mrecv"
	if m == nil && !local {
		return
	}
	site, strand := k.newSite(e), k.now().strand
	note := func(a *access) {
		a.async, a.strand = isAsync, strand
		c.add(k.number, a, k.clock)
		c.noteStore(k, a)
		e.call.buffers = append(e.call.buffers, a)
	}
	each := func(what kind, address string, count uint64, datatype string) {
		if a := k.buffer(site, what, e.In(address).Uint(), count, e.In(datatype).Uint()); a != nil {
			note(a)
		}
	}
	add := func(what kind, address, count, datatype string, times int) {
		each(what, address, e.In(count).Uint()*uint64(times), datatype)
	}
	// lists records the accesses to a buffer that has a count and a displacement for each member. Displacements are
	// in bytes if each member has its own datatype, otherwise in extents of the datatype.
	lists := func(what kind, address, counts, displs, datatypes string) {
		if inPlace(e.In(address).Uint()) {
			return
		}
		var spans []span
		types, places := e.In(datatypes).Words, e.In(displs).Words
		for i, n := range e.In(counts).Words {
			if i >= len(places) || len(types) == 0 {
				break
			}
			h, unit := types[0], int64(1)
			if e.In(datatypes).Item.Form == insight.List {
				if i >= len(types) {
					break
				}
				h = types[i]
			} else if t := k.typeOf(h); t != nil {
				unit = t.extent()
			}
			at := uint64(int64(places[i]) * unit)
			spans = append(spans, k.spansOf(e.In(address).Uint()+at, int64(n), h)...)
		}
		if spans = merged(spans); len(spans) > 0 && spans[0].low >= 4096 {
			note(&access{site: site, kind: what, spans: spans, held: k.heldLocks})
		}
	}
	n, root := 1, false
	if m != nil {
		n = len(m.members)
		if len(m.remote) > 0 {
			n = len(m.remote)
		}
		root = m.worldRank(k, int(e.In("root").Int())) == k.number
		if len(m.remote) > 0 {
			root = e.In("root").Int() == abi.MPI_ROOT
		}
	}
	inter := m != nil && len(m.remote) > 0
	if inter && e.In("root").HasValue() && len(e.In("root").Words) > 0 && e.In("root").Int() == abi.MPI_PROC_NULL {
		return
	}
	if isFile && !file.isEnd {
		add(file.bufferKind(), "buf", "count", "datatype", 1)
	}
	// False at the root of an intercommunicator, which exchanges data only with the remote group.
	member := !inter || !root
	switch base {
	case "Send", "Bsend", "Ssend", "Rsend":
		if !isNull(e, "dest") {
			add(reads, "buf", "count", "datatype", 1)
		}
	case "Pack", "Pack_external":
		add(reads, "inbuf", "incount", "datatype", 1)
	case "Unpack", "Unpack_external":
		add(writes, "outbuf", "outcount", "datatype", 1)
	case "Reduce_local":
		add(reads, "inbuf", "count", "datatype", 1)
		add(writes, "inoutbuf", "count", "datatype", 1)
	case "Recv", "Mrecv":
		if !isNull(e, "source") && !isNoProc(e.In("message")) {
			add(writes, "buf", "count", "datatype", 1)
		}
	case "Sendrecv":
		if !isNull(e, "dest") {
			add(reads, "sendbuf", "sendcount", "sendtype", 1)
		}
		if !isNull(e, "source") {
			add(writes, "recvbuf", "recvcount", "recvtype", 1)
		}
	case "Sendrecv_replace":
		if !isNull(e, "source") {
			add(writes, "buf", "count", "datatype", 1)
		} else if !isNull(e, "dest") {
			add(reads, "buf", "count", "datatype", 1)
		}
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
	case "Reduce_scatter":
		all, mine := uint64(0), uint64(0)
		for i, n := range e.In("recvcounts").Words {
			if all += n; i < len(m.members) && m.members[i] == k.number {
				mine = n
			}
		}
		if !inter && !e.Truncated {
			if inPlace(e.In("sendbuf").Uint()) {
				mine = all
			}
			each(reads, "sendbuf", all, "datatype")
			each(writes, "recvbuf", mine, "datatype")
		}
	case "Reduce":
		if member {
			add(reads, "sendbuf", "count", "datatype", 1)
		}
		if root {
			add(writes, "recvbuf", "count", "datatype", 1)
		}
	case "Gather":
		if member {
			add(reads, "sendbuf", "sendcount", "sendtype", 1)
		}
		if root {
			add(writes, "recvbuf", "recvcount", "recvtype", n)
		}
	case "Scatter":
		if root {
			add(reads, "sendbuf", "sendcount", "sendtype", n)
		}
		if member {
			add(writes, "recvbuf", "recvcount", "recvtype", 1)
		}
	case "Allgather":
		add(reads, "sendbuf", "sendcount", "sendtype", 1)
		add(writes, "recvbuf", "recvcount", "recvtype", n)
	case "Alltoall":
		add(reads, "sendbuf", "sendcount", "sendtype", n)
		add(writes, "recvbuf", "recvcount", "recvtype", n)
	case "Gatherv":
		if member {
			add(reads, "sendbuf", "sendcount", "sendtype", 1)
		}
		if root {
			lists(writes, "recvbuf", "recvcounts", "displs", "recvtype")
		}
	case "Scatterv":
		if root {
			lists(reads, "sendbuf", "sendcounts", "displs", "sendtype")
		}
		if member {
			add(writes, "recvbuf", "recvcount", "recvtype", 1)
		}
	case "Allgatherv":
		add(reads, "sendbuf", "sendcount", "sendtype", 1)
		lists(writes, "recvbuf", "recvcounts", "displs", "recvtype")
	case "Alltoallv":
		lists(reads, "sendbuf", "sendcounts", "sdispls", "sendtype")
		lists(writes, "recvbuf", "recvcounts", "rdispls", "recvtype")
	case "Alltoallw":
		lists(reads, "sendbuf", "sendcounts", "sdispls", "sendtypes")
		lists(writes, "recvbuf", "recvcounts", "rdispls", "recvtypes")
	}
}

// isNull reports whether the peer in a parameter of e is MPI_PROC_NULL. A message then leaves its buffer untouched.
func isNull(e *event, peer string) bool {
	v := e.In(peer)
	return len(v.Words) > 0 && v.Int() == abi.MPI_PROC_NULL
}

// isNoProc reports whether a parameter is MPI_MESSAGE_NO_PROC, the message of a matched probe for MPI_PROC_NULL.
func isNoProc(v *insight.Value) bool {
	return len(v.Words) > 0 && v.Words[0] == abi.MPI_MESSAGE_NO_PROC
}

// leaveBuffers ends the use of a call's buffers. It does nothing if the call has started a request or begun a split
// collective, because that operation keeps using the buffers.
func (c *Checker) leaveBuffers(k *rank, e *event) {
	if startsRequest(e) || beginsSplit(e) {
		return
	}
	for _, a := range e.call.buffers {
		c.endAccess(a, k.now())
	}
	e.call.buffers = nil
}

// noteStore records the latest write of rank k to its own window memory, if access a is such a write. The check of
// MPI_MODE_NOSTORE needs it.
func (c *Checker) noteStore(k *rank, a *access) {
	if a.kind != writes {
		return
	}
	for _, w := range k.wins {
		for i, r := range w.comm.members {
			if p := &w.parts[i]; r == k.number && p.base < a.high() && a.low() < p.base+p.size {
				w.lastStores[k.number] = a.site
			}
		}
	}
}
