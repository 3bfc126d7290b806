package coll

// Collectives on intercommunicators (MPI-5.0 6.2.3): data moves from one group to the other. v is the local group,
// v.remote the other one. Where a whole group takes part, its process 0 speaks for it.

// place says where the root of a rooted call on an intercommunicator is.
type place uint8

const (
	rootIsRemote place = iota // this group is at the other end of the data's way
	rootIsHere                // this process is the root: it passed MPI_ROOT
	rootIsBeside              // another process of this group is the root: MPI_PROC_NULL
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

func (v view) interBcast(b []byte, at place, root int) {
	switch at {
	case rootIsHere:
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

// interReduce: own is reduced over the group that the root is not in; the root has it in out.
func (v view) interReduce(r *reducer, own, out []byte, at place, root int) {
	switch at {
	case rootIsHere:
		v.remote.recv(0, out)
		v.wait()
	case rootIsRemote:
		if acc := v.reduce(r, own, 0); v.rank == 0 {
			v.remote.pass(root, acc)
			v.wait()
		}
	}
}

// interAllreduce: each group gets the reduction over the other one.
func (v view) interAllreduce(r *reducer, own, out []byte) {
	if acc := v.reduce(r, own, 0); v.rank == 0 {
		v.remote.recv(0, out)
		v.remote.pass(0, acc)
		v.wait()
	}
	v.bcast(out, 0)
}

// interReduceScatter: the reduction over the other group is cut into the blocks of this one.
func (v view) interReduceScatter(r *reducer, own []byte, sizes []int, out []byte) {
	acc := v.reduce(r, own, 0)
	var blocks [][]byte
	if v.rank == 0 {
		theirs := v.room(len(own)) // both groups contribute equally long vectors
		v.remote.recv(0, theirs)
		v.remote.pass(0, acc)
		v.wait()
		for _, n := range sizes {
			blocks = append(blocks, theirs[:n:n])
			theirs = theirs[n:]
		}
	}
	v.scatter(blocks, out, 0, straight)
}

// interGather: the root has a block for every process of the other group.
func (v view) interGather(own []byte, blocks [][]byte, at place, root int) {
	switch at {
	case rootIsHere:
		for i, b := range blocks {
			v.remote.recv(i, b)
		}
	case rootIsRemote:
		v.remote.send(root, own)
	}
	v.wait()
}

func (v view) interScatter(blocks [][]byte, own []byte, at place, root int) {
	switch at {
	case rootIsHere:
		for i, b := range blocks {
			v.remote.send(i, b)
		}
	case rootIsRemote:
		v.remote.recv(root, own)
	}
	v.wait()
}

// interAllgather: everybody gets own of every process of the other group. Sizes may differ from process to process.
func (v view) interAllgather(own []byte, blocks [][]byte) {
	out := make([][]byte, v.remote.size)
	for i := range out {
		out[i] = own
	}
	v.interAlltoall(out, blocks)
}

// interAlltoall: in[i] goes to process i of the other group, out[i] comes from there.
func (v view) interAlltoall(in, out [][]byte) {
	n := v.remote.size
	// all at once: rounds of groups of different sizes would wait for each other in a circle
	for k := 0; k < n; k++ {
		i := (v.rank + k) % n
		v.remote.recv(i, out[i])
		v.remote.send(i, in[i])
	}
	v.wait()
}
