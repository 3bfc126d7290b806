package boot

import (
	"hash/fnv"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// EnvNode names an environment variable that splits a machine into several nodes for tests. Processes with different
// values of the variable count as processes of different nodes.
const EnvNode = "GOMPIRMA_NODE"

// NodeMap describes which processes of the job share a node. Nodes are numbered in the order of their lowest rank.
type NodeMap struct {
	NodeOf    []int32 // node of each rank
	NodeCount int
	// Ranks on this process's node, ascending. The rank Local[0] does the work that is needed once for each node.
	Local      []int
	LocalIndex int // index of this process in Local
	Neighbour  *Neighbour

	hosts []string // name of each node
}

// LocalIndices returns, for each rank of the job, its position in Local; -1 for ranks of other nodes.
func (p *NodeMap) LocalIndices() []int32 {
	numbers := make([]int32, len(p.NodeOf))
	for i := range numbers {
		numbers[i] = -1
	}
	for i, r := range p.Local {
		numbers[r] = int32(i)
	}
	return numbers
}

// Host returns the name of the machine of a rank, for messages.
func (p *NodeMap) Host(rank int) string { return p.hosts[p.NodeOf[rank]] }

// Nodes determines which processes can share memory. These processes run on the same kernel, in the same namespaces
// (processes, users, network), as the same user. It is collective. Each process publishes two values and fetches about
// 2 sqrt(Size) values, or none if gompirun reported that all processes run on one node. If the launcher does not report
// failures, the processes watch each other from then on. The function `permitted` returns the addresses and ports for
// their connections. A process counts as failed if the network path to it is broken for the time `silent`; 0 means no
// limit.
func Nodes(c Client, permitted func() ListenSpec, silent time.Duration) (*NodeMap, error) {
	next := listen(c, permitted)
	p, err := nodes(c, identity(), host())
	if err != nil {
		next.Close()
		return nil, err
	}
	if p.Neighbour = next; next != nil {
		next.watch(c, silent)
		c.SetWatch(next)
	}
	return p, nil
}

// hostBytes is the maximum length of a published host name; longer names are truncated.
const hostBytes = 48

// IsLocal returns whether Nodes is local: the process is alone in its job, or gompirun has passed it the memory of the
// only node.
func IsLocal(c Client) bool {
	control, ok := c.Control()
	return c.Size() == 1 || ok && control.NodeSize == c.Size()
}

func nodes(c Client, identity, host string) (*NodeMap, error) {
	all := make([]string, c.Size())
	if !IsLocal(c) {
		// A hash of 16 bytes suffices to distinguish the nodes of any cluster.
		sum := fnv.New128a()
		sum.Write([]byte(identity))
		var err error
		if all, err = AllGather(c, "node", string(sum.Sum(nil))+host[:min(len(host), hostBytes)]); err != nil {
			return nil, err
		}
	}
	p := &NodeMap{NodeOf: make([]int32, len(all))}
	numbers := map[string]int32{}
	for r, id := range all {
		number, known := numbers[id]
		if !known {
			number = int32(len(numbers))
			numbers[id] = number
			name := host // if no values were exchanged, all ranks are on this host
			if len(id) >= 128/8 {
				name = id[128/8:]
			}
			p.hosts = append(p.hosts, name)
		}
		p.NodeOf[r] = number
	}
	p.NodeCount = len(numbers)
	for r, node := range p.NodeOf {
		if node == p.NodeOf[c.Rank()] {
			if r == c.Rank() {
				p.LocalIndex = len(p.Local)
			}
			p.Local = append(p.Local, r)
		}
	}
	return p, nil
}

// identity returns a description of the node. Processes with the same identity can open each other's memory through
// /proc or a socket.
func identity() string {
	host, _ := os.Hostname()
	parts := []string{host, bootID(), strconv.Itoa(unix.Geteuid()), os.Getenv(EnvNode)}
	for _, namespace := range []string{"pid", "user", "net"} {
		link, _ := os.Readlink("/proc/self/ns/" + namespace)
		parts = append(parts, link)
	}
	return strings.Join(parts, "\n")
}

// host returns the name of the machine for users; with EnvNode, the node's number follows.
func host() string {
	name, err := os.Hostname()
	if err != nil || name == "" {
		name = "unnamed host"
	}
	if number := os.Getenv(EnvNode); number != "" {
		name += "/" + number
	}
	return name
}

// bootID returns the identifier of this boot of the kernel; zeros if there is no /proc.
func bootID() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil || len(id) < 36 {
		return "00000000-0000-0000-0000-000000000000"
	}
	return strings.TrimSpace(string(id))
}
