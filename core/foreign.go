package core

import (
	"encoding/binary"
	"net"
	"os"
	"slices"
	"sync"

	"gompirma/core/abi"
	"gompirma/core/boot"
	"gompirma/core/comm"
	"gompirma/core/fabric"
	"gompirma/core/group"
	"gompirma/core/mpierr"
)

// Processes of other jobs. The processes that use the same numbers for each other form a universe: the processes of a
// node under one gompirun, or the processes of a job with several nodes. Processes of different universes communicate
// over the network only. Each process adds processes of other universes to its table when it connects to them, so
// processes may use different numbers for them. The name of a process towards others is its universe and its number in
// the universe.

// foreign is what a process knows of other universes.
type foreign struct {
	mu       sync.Mutex
	endpoint *fabric.Endpoint // this process' endpoint; nil while the network is not open
	numbers  map[name]int32
	names    map[int32]name   // inverse of numbers
	hosts    map[int32]string // by number
	nodes    map[name]int32   // by universe and number of the node there
	jobs     map[name]uint32  // by universe and number of the job's rank 0
	secrets  map[int32][16]byte
	// Processes that this process notifies of MPI_Finalize, with the number of communicators that connect it to
	// them. The members of a group notify different members of the other group.
	toNotify map[int32]int
}

// countTargets adds `count` to the entries of toNotify for members of the remote group of c. It changes only the
// entries of the members that this process has to notify.
func (p *Instance) countTargets(c *comm.Comm, count int) {
	x := &p.foreign
	x.mu.Lock()
	defer x.mu.Unlock()
	isOneJob := true // all members of the local group belong to this job: one of them notifies a remote member
	for i := range c.Size() {
		isOneJob = isOneJob && p.WorldComm.Group().Rank(c.Group().World(i)) != group.Undefined
	}
	if x.toNotify == nil {
		x.toNotify = map[int32]int{}
	}
	for i, w := range c.Peers().Members() {
		if !isOneJob || i%c.Size() == c.Rank() {
			x.toNotify[w] = max(0, x.toNotify[w]+count)
		}
	}
}

// targets returns the processes that this process notifies of MPI_Finalize.
func (x *foreign) targets() (all []int32) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for w, n := range x.toNotify {
		if n > 0 {
			all = append(all, w)
		}
	}
	return all
}

// Disconnect synchronizes the members of a communicator before MPI_Comm_disconnect, if it has members of other
// universes: when it returns, no member uses the communicator any longer, or this process cannot know because another
// one has failed. So the end of a member does not disturb the others. Collective.
func (p *Instance) Disconnect(c *comm.Comm) {
	if slices.ContainsFunc(c.Processes(), p.isForeign) {
		_ = c.Synchronize()
		if c.IsInter() {
			p.countTargets(c, -1)
		}
	}
}

// forget forgets all processes, because the network has been closed.
func (x *foreign) forget() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.endpoint, x.numbers, x.names, x.hosts, x.nodes, x.jobs, x.secrets = nil, nil, nil, nil, nil, nil, nil
	x.toNotify = nil
}

type name struct {
	universe uint64
	number   uint32
}

// maxDescription is the number of bytes by which a process describes itself for processes of other universes.
const maxDescription = 1024

// universe returns the universe of this process.
func (p *Instance) universe() uint64 {
	if p.spans {
		return p.foreign.endpoint.Universe
	}
	return p.Node.Universe()
}

// Identify and Find implement p2p.Names.
func (p *Instance) Identify(w int32) (universe uint64, number uint32) {
	if int(w) >= p.ownCount {
		p.foreign.mu.Lock()
		defer p.foreign.mu.Unlock()
		n := p.foreign.names[w]
		return n.universe, n.number
	}
	return p.universe(), uint32(w)
}

func (p *Instance) Find(universe uint64, number uint32) (w int32, ok bool) {
	if universe == p.universe() {
		return int32(number), int(number) < p.ownCount
	}
	p.foreign.mu.Lock()
	defer p.foreign.mu.Unlock()
	w, ok = p.foreign.numbers[name{universe, number}]
	return w, ok
}

// isForeign returns whether a process belongs to another universe.
func (p *Instance) isForeign(w int32) bool { return int(w) >= p.ownCount }

// HostOf returns the name of the host of a process; "?" if it is not known.
func (p *Instance) HostOf(w int32) string {
	switch {
	case w >= 0 && int(w) < p.ownCount && p.NodeMap.NodeCount == 1:
		return p.NodeMap.Host(0)
	case w >= 0 && int(w) < p.ownCount:
		return p.NodeMap.Host(int(w))
	case p.isForeign(w):
		p.foreign.mu.Lock()
		defer p.foreign.mu.Unlock()
		if host, ok := p.foreign.hosts[w]; ok {
			return host
		}
	}
	return "?"
}

// provider returns the provider of this process' network. Its name is empty if the network is not open.
func (p *Instance) provider() (used fabric.Provider) {
	p.foreign.mu.Lock()
	defer p.foreign.mu.Unlock()
	if e := p.foreign.endpoint; e != nil {
		used = e.Provider
	}
	return used
}

// openNetwork opens the network of this process for connections to other universes, unless it is open. The provider is
// that of the other job; it has no name if no process has one. Errors: MPI_ERR_OTHER.
func (p *Instance) openNetwork(provider fabric.Provider) error {
	p.foreign.mu.Lock()
	defer p.foreign.mu.Unlock()
	if e := p.foreign.endpoint; e != nil {
		if provider.Name == "" {
			provider = fabric.Provider{Name: fabric.OwnProvider, Version: e.Provider.Version}
		}
		return differ(e.Provider, provider)
	}
	timeout, err := boot.PeerTimeout()
	if err != nil {
		return err
	}
	e, err := fabric.OpenAlone(p.data.Network(), provider, p.universe(), int(p.Number()), p.ownCount, timeout)
	if err != nil {
		return err
	}
	p.foreign.endpoint = e
	p.data.NetworkOpened()
	p.Messages.OpenNetwork()
	p.runNetwork()
	return nil
}

// differ returns an error if this process and another job use different networks. A provider without a name means that
// no network is open.
func differ(mine, theirs fabric.Provider) error {
	switch {
	case mine == theirs, mine.Name == "", theirs.Name == "":
		return nil
	case mine.Name == theirs.Name:
		return mpierr.New(abi.MPI_ERR_OTHER, "the network provider %s has another version in the other job: "+
			"install the same library on all nodes, or set GOMPIRMA_PROVIDER=tcp in both jobs", mine.Name)
	}
	return mpierr.New(abi.MPI_ERR_OTHER, "this process uses the network provider %s, the other job %s: set "+
		"GOMPIRMA_PROVIDER to the same value in both jobs", mine.Name, theirs.Name)
}

// describe returns the description of this process, or an empty description if the network cannot be opened. The
// argument is that of openNetwork.
func (p *Instance) describe(provider fabric.Provider) (description []byte, err error) {
	p.Messages.Connected()
	description = make([]byte, 0, maxDescription)
	if err = p.openNetwork(provider); err == nil {
		e := p.foreign.endpoint
		host, _ := os.Hostname()
		host = host[:min(len(host), 64)]
		at := p.Processes.At(p.Number())
		le := binary.LittleEndian
		description = le.AppendUint64(description, e.Universe)
		for _, n := range []int{int(p.Number()), int(at.Node), p.Rank, len(e.Address), len(e.Host), len(host)} {
			description = le.AppendUint32(description, uint32(n))
		}
		description = append(description, e.Secret[:]...)
		description = append(append(append(description, e.Address...), e.Host...), host...)
		if len(description) > maxDescription {
			err = mpierr.New(abi.MPI_ERR_OTHER, "the network address of this process has %d bytes, too "+
				"many for a connection to another job", len(description))
		}
	}
	if err != nil {
		return make([]byte, maxDescription), err
	}
	return description[:maxDescription], nil
}

// errDescription is the error of a process of the other group that could not open its network, or of invalid data.
func errDescription() error {
	return mpierr.New(abi.MPI_ERR_OTHER, "a process cannot open its network for connections between jobs, or its "+
		"gompirma has another version")
}

// addDescribed returns the numbers of the described processes, and adds those that are new to the table of processes.
func (p *Instance) addDescribed(all []byte) (numbers []int32, err error) {
	le := binary.LittleEndian
	if len(all)%maxDescription != 0 {
		return nil, errDescription()
	}
	for ; len(all) > 0; all = all[maxDescription:] {
		d := all[:maxDescription]
		universe := le.Uint64(d)
		var field [6]uint32 // number, node, rank, and the lengths of address, host data and host name
		for i := range field {
			field[i] = le.Uint32(d[8+4*i:])
		}
		d = d[8+4*len(field):]
		// The sum of the lengths must not overflow.
		if max(field[3], field[4], field[5]) > maxDescription || field[3] == 0 ||
			field[3]+field[4]+field[5] > uint32(len(d)-16) {
			return nil, errDescription()
		}
		f := fabric.Foreign{Number: field[0]}
		f.Universe = universe
		f.Secret = [16]byte(d)
		d = d[16:]
		f.Address, f.Host = string(d[:field[3]]), string(d[field[3]:field[3]+field[4]])
		host := string(d[field[3]+field[4]:][:field[5]])
		w, err := p.addForeign(&f, field[1], field[2], host)
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, w)
	}
	return numbers, nil
}

// addForeign returns the number of a process, and adds it to the table of processes if it is new.
func (p *Instance) addForeign(f *fabric.Foreign, node, rank uint32, host string) (int32, error) {
	if f.Universe == p.universe() {
		return int32(f.Number), nil
	}
	x := &p.foreign
	x.mu.Lock()
	defer x.mu.Unlock()
	key := name{f.Universe, f.Number}
	// A process that has ended may have had the same number, but not the same secret.
	if w, ok := x.numbers[key]; ok && x.secrets[w] == f.Secret {
		return w, nil
	}
	if x.numbers == nil {
		x.numbers, x.names, x.hosts = map[name]int32{}, map[int32]name{}, map[int32]string{}
		x.nodes, x.jobs, x.secrets = map[name]int32{}, map[name]uint32{}, map[int32][16]byte{}
	}
	job := name{f.Universe, f.Number - rank}
	if x.jobs[job] == 0 {
		x.jobs[job] = uint32(len(x.jobs) + 1)
	}
	at, ok := x.nodes[name{f.Universe, node}]
	if !ok {
		at = int32(p.Processes.Nodes())
		x.nodes[name{f.Universe, node}] = at
	}
	// Add the process to the table first: its messages may arrive as soon as the network has it.
	w, err := p.Processes.AddForeign(x.jobs[job], int32(rank), at)
	if err != nil {
		return 0, err
	}
	f.Peer, f.Node = w, at
	if err := p.data.Network().Add(f); err != nil {
		return 0, mpierr.New(abi.MPI_ERR_OTHER, "cannot connect to rank %d of another job: %v", rank, err)
	}
	x.numbers[key], x.names[w], x.hosts[w], x.secrets[w] = w, key, host, f.Secret
	return w, nil
}

// introduction is what the leaders of two groups send each other first.
type introduction struct {
	universe uint64
	number   int32  // number of the leader
	tag      uint32 // tag that the connecting side has chosen for messages between leaders in one universe
	provider fabric.Provider
}

// introductionBytes is the number of bytes of an introduction without the name of the provider.
const introductionBytes = 20

// maxIntroduction bounds the introductions that a process accepts.
const maxIntroduction = introductionBytes + 256

// introduce exchanges introductions over a connection to the leader of another group.
func (p *Instance) introduce(c net.Conn, tag int32) (theirs introduction, err error) {
	le := binary.LittleEndian
	mine := le.AppendUint64(nil, p.universe())
	mine = le.AppendUint32(le.AppendUint32(mine, uint32(p.Number())), uint32(tag))
	used := p.provider()
	mine = append(le.AppendUint32(mine, used.Version), used.Name...)
	b, err := boot.Exchange(c, mine, maxIntroduction)
	if err == nil && len(b) < introductionBytes {
		err = errDescription()
	}
	if err != nil {
		return introduction{}, err
	}
	theirs.provider = fabric.Provider{Version: le.Uint32(b[16:]), Name: string(b[introductionBytes:])}
	theirs.universe, theirs.number, theirs.tag = le.Uint64(b), int32(le.Uint32(b[8:])), le.Uint32(b[12:])
	return theirs, nil
}

// maxGroupBytes bounds the descriptions that a process accepts.
const maxGroupBytes = 1 << 30

// meet creates the intercommunicator of c and a group of other processes. The function `find`, which is called at the
// member of rank root only, returns a connection to the leader of the other group. The argument accepts is true for one
// of the two groups. Collective over both groups.
func (p *Instance) meet(c *comm.Comm, root int, accepts bool,
	find func(introduce func(net.Conn) error) (net.Conn, error)) (*comm.Comm, error) {
	var link net.Conn
	var them introduction
	var head []byte
	var err error
	le := binary.LittleEndian
	tag, _ := p.newTag()
	if c.Rank() == root {
		link, err = find(func(c net.Conn) (err error) {
			them, err = p.introduce(c, tag)
			return err
		})
		if err == nil {
			defer link.Close()
			head = []byte{0}
			if them.universe != p.universe() {
				provider := p.provider()
				err = differ(provider, them.provider)
				if provider.Name == "" {
					provider = them.provider
				}
				head = append(le.AppendUint32([]byte{1}, provider.Version), provider.Name...)
			}
		}
	}
	if head, err = c.BcastFrom(root, head, err); err != nil {
		return nil, err
	}
	if head[0] == 0 {
		if accepts {
			tag = int32(them.tag)
		}
		return c.NewInter(root, p.sessionComm, int(them.number), tag)
	}
	provider := fabric.Provider{Version: le.Uint32(head[1:]), Name: string(head[5:])}
	mine, failure := p.describe(provider)
	// Networks without connections drop messages of processes that the receiver does not know yet.
	agrees := provider.Name != "" && provider.Name != fabric.OwnProvider
	n, err := c.NewInterOver(root, accepts, agrees, mine, func(all []byte) ([]byte, error) {
		theirs, err := boot.Exchange(link, all, maxGroupBytes)
		if err != nil {
			err = mpierr.New(abi.MPI_ERR_PROC_ABORTED, "the leader of the other group has ended, or its "+
				"connection has broken: %v", err)
		}
		return theirs, err
	}, func(theirs []byte) ([]int32, error) {
		if failure != nil {
			return nil, mpierr.New(abi.MPI_ERR_OTHER, "%v", failure)
		}
		return p.addDescribed(theirs)
	})
	if err == nil {
		p.countTargets(n, 1)
	}
	return n, err
}
