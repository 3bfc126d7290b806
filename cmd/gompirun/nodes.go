package main

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"gompirma/core/shm"
)

// node is a set of ranks that share memory: all ranks of the job, unless --nodes simulates several machines.
type node struct {
	number      int
	host        string // "" for this host
	first, size int    // the node's ranks are `first` to `first` + `size` - 1
	apart       bool   // the ranks belong to a job that has a memory of its own
	control     *os.File
	memory      *shm.Node // gompirun's mapping of control; nil if all ranks have ended
}

// blocks distributes n ranks over nodes in order. Each node gets perNode ranks, the last one the remaining ranks. If
// perNode is 0, blocks distributes the ranks as evenly as possible over at most the given number of nodes. It returns
// the number of ranks of each node. Each node has at least one rank.
func blocks(n, nodes, perNode int) (sizes []int) {
	if perNode > 0 {
		for ; n > 0; n -= perNode {
			sizes = append(sizes, min(n, perNode))
		}
		return sizes
	}
	nodes = min(max(nodes, 1), n)
	for i := range nodes {
		sizes = append(sizes, (i+1)*n/nodes-i*n/nodes)
	}
	return sizes
}

// envInterface names the environment variable that restricts the network of ranks to some interfaces.
const envInterface = "GOMPIRMA_INTERFACE"

// loopback returns the name of the loopback interface, which connects the ranks of simulated nodes; "" if there is
// none. Traffic between two addresses of one machine always uses the loopback interface.
func loopback(interfaces []net.Interface) (name string, err error) {
	for _, one := range interfaces {
		switch {
		case one.Flags&net.FlagLoopback == 0:
		case one.Flags&net.FlagUp == 0:
			return "", fmt.Errorf("--nodes: the ranks connect over the loopback interface %s, "+
				"which is down. Run: ip link set %s up", one.Name, one.Name)
		case name == "":
			name = one.Name
		}
	}
	return name, nil
}

// onInterface returns env with GOMPIRMA_INTERFACE=name, unless the user has set the variable. The loopback interface
// keeps other hosts from connecting to the ranks.
func onInterface(env []string, name string) []string {
	if name == "" || variable(env, envInterface) != "" {
		return env
	}
	return append(without(env, envInterface), envInterface+"="+name)
}

// makeNodes creates nodes with the given numbers of ranks, and the shared memory of each node.
func makeNodes(sizes []int) (nodes []node, err error) {
	first := 0
	for i, size := range sizes {
		n := node{number: i, first: first, size: size}
		if err := n.open(len(sizes)); err != nil {
			return nil, err
		}
		nodes = append(nodes, n)
		first += size
	}
	return nodes, nil
}

// open creates the shared memory of a node. The argument `nodes` is the number of nodes that share the machine.
func (n *node) open(nodes int) (err error) {
	if n.control, err = shm.CreateControl(n.size, nodes); err != nil {
		return err
	}
	n.control = aboveOpen(n.control)
	n.memory, err = shm.Open(int(n.control.Fd()), -1)
	return err
}

// close releases the shared memory of a node.
func (n *node) close() {
	n.memory.Close()
	n.control.Close()
	n.memory = nil
}

// aboveOpen moves f to a descriptor above all open ones and sets close-on-exec. In the child process, syscall.ForkExec
// moves descriptors temporarily to numbers above the highest one of its list. Without aboveOpen, ForkExec could
// overwrite descriptors that gompirun inherited and that the rank must inherit too.
func aboveOpen(f *os.File) *os.File {
	highest := f.Fd()
	open, _ := os.ReadDir("/proc/self/fd")
	for _, entry := range open {
		if fd, err := strconv.Atoi(entry.Name()); err == nil {
			highest = max(highest, uintptr(fd))
		}
	}
	moved, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, int(highest)+1)
	if err != nil { // above the limit
		unix.CloseOnExec(int(f.Fd()))
		return f
	}
	f.Close()
	return os.NewFile(uintptr(moved), f.Name())
}

func (j *job) nodeOf(rank int) *node {
	i := 0
	for rank >= j.nodes[i].first+j.nodes[i].size {
		i++
	}
	return &j.nodes[i]
}

// noteEnded records that a rank has ended without an error, so that waits of other ranks for this rank end.
func (j *job) noteEnded(rank int) {
	n := j.nodeOf(rank)
	n.memory.NoteEnded(rank - n.first)
}

// markFailed marks a rank as failed, so that waits of other ranks for this rank end with an error. Ranks of jobs that
// do not share numbers with it notice the end of its connections. markFailed also ends the jobs that the rank has
// started and not connected to.
func (j *job) markFailed(rank int) {
	j.endUnconnected(rank)
	own := j.nodeOf(rank)
	for i := range j.nodes {
		if n := &j.nodes[i]; n == own {
			n.memory.MarkFailed(rank - n.first)
		} else if !own.apart && !n.apart {
			n.memory.MarkRemoteFailed(rank)
		}
	}
}

// mapping returns the value of the PMI key PMI_process_mapping. Each run of consecutive nodes with equally many ranks
// becomes one item: the first node, the number of nodes, and the ranks on each node.
func mapping(nodes []node) string {
	var text strings.Builder
	for i := 0; i < len(nodes); {
		k := i
		for k < len(nodes) && nodes[k].size == nodes[i].size {
			k++
		}
		fmt.Fprintf(&text, ",(%d,%d,%d)", i, k-i, nodes[i].size)
		i = k
	}
	return "(vector" + text.String() + ")"
}
