package coll

// Collectives on intercommunicators (MPI-5.0 6.2.3) move data from one group to the other. In this file, v is the local
// group and v.remote the remote group. If data belongs to a group as a whole, such as the result of a reduction,
// process 0 of the group sends or receives it.

// rootSide is the position of the root of a rooted call on an intercommunicator, relative to this process.
type rootSide uint8

const (
	rootIsRemote rootSide = iota // the root is in the remote group
	rootIsSelf                   // this process is the root: it passed MPI_ROOT
	rootInGroup                  // another process of this group is the root: this process passed MPI_PROC_NULL
)

func (v view) interBarrier() {
	v.barrier()
	if v.rank == 0 {
		v.remote.send(0, nil)
		v.remote.recv(0, nil)
		v.wait()
	}
	v.barrier()
}

func (v view) interBcast(b []byte, at rootSide, root int) {
	switch at {
	case rootIsSelf:
		v.remote.send(0, b)
		v.wait()
	case rootIsRemote:
		if v.rank == 0 {
			v.remote.recv(root, b)
			v.wait()
		}
		v.bcast(b, 0)
	}
}

// interReduce reduces the vectors (`own`) of the members of the group that does not contain the root, and stores the
// result in the root's buffer (`out`).
func (v view) interReduce(r *reducer, own, out []byte, at rootSide, root int) {
	switch at {
	case rootIsSelf:
		v.remote.recv(0, out)
		v.wait()
	case rootIsRemote:
		if acc := v.reduce(r, own, 0); v.rank == 0 {
			v.remote.forward(root, acc)
			v.wait()
		}
	}
}

// interAllreduce reduces the vectors `own` of each group, and stores the result of the remote group to the buffer `out`
// at each process.
func (v view) interAllreduce(r *reducer, own, out []byte) {
	if acc := v.reduce(r, own, 0); v.rank == 0 {
		v.remote.recv(0, out)
		v.remote.forward(0, acc)
		v.wait()
	}
	v.bcast(out, 0)
}

// interReduceScatter reduces the vectors `own` of each group. It scatters the result of the remote group: process i of
// this group receives sizes[i] bytes in `out`.
func (v view) interReduceScatter(r *reducer, own []byte, sizes []int, out []byte) {
	acc := v.reduce(r, own, 0)
	var blocks [][]byte
	if v.rank == 0 {
		theirs := v.alloc(len(own)) // both groups contribute equally long vectors
		v.remote.recv(0, theirs)
		v.remote.forward(0, acc)
		v.wait()
		for _, n := range sizes {
			blocks = append(blocks, theirs[:n:n])
			theirs = theirs[n:]
		}
	}
	v.scatter(blocks, out, 0, routeDirect)
}

// interGather copies the block `own` of each process i of the group that does not contain the root to blocks[i] at the
// root.
func (v view) interGather(own []byte, blocks [][]byte, at rootSide, root int) {
	switch at {
	case rootIsSelf:
		for i, b := range blocks {
			v.remote.recv(i, b)
		}
	case rootIsRemote:
		v.remote.send(root, own)
	}
	v.wait()
}

func (v view) interScatter(blocks [][]byte, own []byte, at rootSide, root int) {
	switch at {
	case rootIsSelf:
		for i, b := range blocks {
			v.remote.send(i, b)
		}
	case rootIsRemote:
		v.remote.recv(root, own)
	}
	v.wait()
}

// interAllgather stores the block `own` of process i of the remote group to blocks[i]. The sizes may differ between
// processes.
func (v view) interAllgather(own []byte, blocks [][]byte) {
	out := make([][]byte, v.remote.size)
	for i := range out {
		out[i] = own
	}
	v.interAlltoall(out, blocks)
}

// interAlltoall sends in[i] to process i of the remote group and receives out[i] from it.
func (v view) interAlltoall(in, out [][]byte) {
	n := v.remote.size
	// All messages are in flight at once. If the exchange had rounds as in alltoall, processes of groups with
	// different sizes could wait for each other in a cycle.
	for k := 0; k < n; k++ {
		i := (v.rank + k) % n
		v.remote.recv(i, out[i])
		v.remote.send(i, in[i])
	}
	v.wait()
}
