package boot

import (
	"hash/fnv"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// EnvNode, if set, makes processes with different values of it count as processes of different nodes.
const EnvNode = "GOMPIRMA_NODE"

// Places tells which processes of the job share a node. Nodes are numbered in the order of their lowest rank.
type Places struct {
	NodeOf []int32 // node of each rank
	Count  int     // number of nodes
	// ranks on this process' node, ascending; Local[0] is the one that does what is done once on a node
	Local []int
	Index int // of this process in Local
	Next  *Neighbour

	hosts []string // of each node
}

// IndexOf returns, for each rank of the job, its position in Local; -1 for ranks of other nodes.
func (p *Places) IndexOf() []int32 {
	numbers := make([]int32, len(p.NodeOf))
	for i := range numbers {
		numbers[i] = -1
	}
	for i, r := range p.Local {
		numbers[r] = int32(i)
	}
	return numbers
}

// Host names the machine that a rank runs on, for texts.
func (p *Places) Host(rank int) string { return p.hosts[p.NodeOf[rank]] }

// Nodes finds out which processes can share memory: same running system, same namespaces (processes, users, network),
// same user. Collective. Costs two published values and about 2 sqrt(Size) fetched ones for each process, nothing when
// gompirun said that all run on one node. From then on the processes watch each other where the launcher does not tell
// whether they live, through what is permitted; silent is how long the way between two may be lost, 0: for ever.
func Nodes(c Client, permitted func() Where, silent time.Duration) (*Places, error) {
	next := listen(c, permitted)
	p, err := nodes(c, identity(), host())
	if err != nil {
		next.Close()
		return nil, err
	}
	if p.Next = next; next != nil {
		next.watch(c, silent)
		c.Watched(next)
	}
	return p, nil
}

// hostBytes is how much of a host's name others are told: with the hash of the identity no more than an address has.
const hostBytes = 48

func nodes(c Client, identity, host string) (*Places, error) {
	all := make([]string, c.Size())
	if control, ok := c.Control(); !ok || control.NodeSize != c.Size() {
		// 16 bytes of the hash distinguish the nodes of any machine.
		sum := fnv.New128a()
		sum.Write([]byte(identity))
		var err error
		if all, err = AllGather(c, "node", string(sum.Sum(nil))+host[:min(len(host), hostBytes)]); err != nil {
			return nil, err
		}
	}
	p := &Places{NodeOf: make([]int32, len(all))}
	numbers := map[string]int32{}
	for r, id := range all {
		number, known := numbers[id]
		if !known {
			number = int32(len(numbers))
			numbers[id] = number
			name := host // nothing was exchanged
			if len(id) >= 128/8 {
				name = id[128/8:]
			}
			p.hosts = append(p.hosts, name)
		}
		p.NodeOf[r] = number
	}
	p.Count = len(numbers)
	for r, node := range p.NodeOf {
		if node == p.NodeOf[c.Rank()] {
			if r == c.Rank() {
				p.Index = len(p.Local)
			}
			p.Local = append(p.Local, r)
		}
	}
	return p, nil
}

// identity describes the node: processes that have the same one can open each other's memory through /proc or a socket.
func identity() string {
	host, _ := os.Hostname()
	parts := []string{host, bootID(), strconv.Itoa(unix.Geteuid()), os.Getenv(EnvNode)}
	for _, namespace := range []string{"pid", "user", "net"} {
		link, _ := os.Readlink("/proc/self/ns/" + namespace)
		parts = append(parts, link)
	}
	return strings.Join(parts, "\n")
}

// host names the machine for people; a pretended one by its number, too.
func host() string {
	name, err := os.Hostname()
	if err != nil || name == "" {
		name = "host without a name"
	}
	if number := os.Getenv(EnvNode); number != "" {
		name += "/" + number
	}
	return name
}

// bootID names one run of the system's kernel; zeros where there is no /proc.
func bootID() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil || len(id) < 36 {
		return "00000000-0000-0000-0000-000000000000"
	}
	return strings.TrimSpace(string(id))
}
