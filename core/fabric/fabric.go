// Package fabric owns the setup of the network between the nodes of a job: the provider, the addresses, the job's
// secret. The network itself is implemented in C (capi/fabric), behind Network. The package must not depend on the data
// that the network transfers.
package fabric

import (
	"encoding/binary"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"gompirma/core/abi"
	"gompirma/core/boot"
	"gompirma/core/limit"
	"gompirma/core/mpierr"
	"gompirma/core/random"
)

// EnvProvider is the environment variable that names the provider to use.
const EnvProvider = "GOMPIRMA_PROVIDER"

const (
	announcement = "fabric"   // key of the text that rank 0 publishes (type announced)
	addresses    = "fabric.a" // key of the address that each process publishes
)

// Network is the interface to the network in C. Its methods are called in the order in which they are declared.
type Network interface {
	// Choose chooses the provider for a job. The argument `wanted` is the name of the provider that the user
	// requests; "" if none. The first call takes about 300 ms if libfabric may have a provider.
	Choose(wanted string) (Provider, error)
	// Open opens this process' endpoint. The result `address` is the address of the endpoint. The result `host` is
	// the part of the address that all processes of the machine have in common. One process of each node publishes
	// this part.
	Open(p Provider) (address, host string, err error)
	// Begin passes the addresses of all processes to the network. Afterwards the network can be used.
	Begin(j *Job) error
	// Add makes a process of another job a peer. It may be called at any time after Begin.
	Add(f *Foreign) error
	// NotifyFinalize notifies processes of other jobs that all processes of this job have called MPI_Finalize:
	// those with the given numbers, and all with which this process has communicated.
	NotifyFinalize(to []int32)
	// NotifyEnd notifies the processes of this job on other nodes, with which this process has communicated, that
	// this process ends after MPI_Finalize. Afterwards its end is an error only for calls that wait for this
	// process alone.
	NotifyEnd()
	// Drain waits until the processes of this job, or those of other jobs, have received all data, but for each
	// process not longer than the limit.
	Drain(ownJob bool, limit time.Duration)
	// Run is the body of the network's progress thread, and returns after Stop has been called. It makes progress
	// while no other thread does, and sleeps while the network is idle.
	Run()
	// JobFinalized declares that all processes of the job have called MPI_Finalize, and that this process has a
	// session. If a process ends afterwards, this is an error only for calls of this process that depend on it.
	JobFinalized()
	// JobEnding declares that the job is about to end. A process that disconnects afterwards does not count as
	// failed.
	JobEnding()
	Stop()
	// End closes the network. Preconditions: Run has returned, and no process waits for this one.
	End()
}

// Provider is a network provider: "tcp", which is gompirma's own, or a provider of libfabric.
type Provider struct {
	Name    string
	Version uint32
}

// Job describes the processes of the job, and holds the values on which they have agreed.
type Job struct {
	Rank, Size int
	Addresses  []byte   // addresses of all processes, by rank, concatenated; all have the same length
	Hosts      []string // by node: the result `host` of Network.Open at one process of the node
	NodeOf     []int32  // by rank: number of the node
	Secret     [16]byte
	Universe   uint64        // identifies the processes that use the same numbers as this process
	Timeout    time.Duration // a peer that is silent for this time counts as failed; 0 for no limit
}

// Endpoint describes this process for processes of other jobs.
type Endpoint struct {
	Address, Host string // as in Network.Open
	Universe      uint64
	Secret        [16]byte
	Provider      Provider // over which peers reach this process
}

// Foreign describes a process of another job. Peer and Node are its number and that of its node in this process, Number
// its number in its universe.
type Foreign struct {
	Endpoint
	Peer, Node int32
	Number     uint32
}

// OpenAlone opens the network n of a process whose job has one node, so that it can connect to other jobs. Local. The
// argument `count` is the number of processes that have numbers, and self is that of this process. The provider is that
// of the other job. If that has none, its name is "", and the network is gompirma's own.
func OpenAlone(n Network, provider Provider, universe uint64, self, count int, timeout time.Duration) (e *Endpoint,
	err error) {
	e = &Endpoint{Universe: universe, Provider: provider}
	if provider.Name == "" {
		e.Provider, err = n.Choose(OwnProvider)
	}
	if err == nil {
		err = random.Read(e.Secret[:])
	}
	if err == nil {
		e.Address, e.Host, err = n.Open(e.Provider)
	}
	if err == nil {
		err = n.Begin(&Job{Rank: self, Size: count, Addresses: make([]byte, count*len(e.Address)),
			Hosts: []string{e.Host}, NodeOf: make([]int32, count), Secret: e.Secret, Universe: universe,
			Timeout: timeout})
	}
	if err != nil {
		return nil, failed(err)
	}
	return e, nil
}

// OwnProvider is the name of gompirma's own network.
const OwnProvider = "tcp"

// Open opens the network n of a job that spans nodes. Collective over the job. For each process it costs one published
// value, about 2 sqrt(Size) fetched values and three fences. A peer that is silent for longer than `timeout` counts as
// failed; 0 means no limit. Errors: MPI_ERR_OTHER if the provider that the user wants is not available.
func Open(n Network, b boot.Client, nodeOf []int32, timeout time.Duration) (*Endpoint, error) {
	var said announced
	var err error
	if b.Rank() == 0 {
		if said, err = choose(n); err != nil {
			return nil, err
		}
		if err := b.Put(announcement, said.String()); err != nil {
			return nil, err
		}
	}
	if err := b.Fence(); err != nil {
		return nil, mpierr.Wrap(err, "while waiting until all ranks have loaded the network library")
	}
	if b.Rank() != 0 {
		text, err := b.Get(0, announcement)
		if err != nil {
			return nil, mpierr.Wrap(err, "while waiting for the network that rank 0 selects")
		}
		if said, err = parse(text); err != nil {
			return nil, err
		}
	}
	address, host, err := n.Open(said.provider)
	if err != nil {
		return nil, failed(err)
	}
	published := address
	if firstOfNode(nodeOf, b.Rank()) {
		published += host
	}
	all, err := boot.AllGather(b, addresses, published)
	if err != nil {
		return nil, mpierr.Wrap(err, "while waiting for the network addresses of all ranks")
	}
	table := make([]byte, 0, len(all)*len(address))
	var hosts []string
	for rank, a := range all {
		if len(a) < len(address) || (host == "" && len(a) > len(address)) {
			return nil, mpierr.New(abi.MPI_ERR_OTHER, "the network address of rank %d has %d bytes, "+
				"but that of rank %d has %d: use the same protocol (IPv4 or IPv6) on all nodes", rank,
				len(a), b.Rank(), len(address))
		}
		table = append(table, a[:len(address)]...)
		for int(nodeOf[rank]) >= len(hosts) {
			hosts = append(hosts, "")
		}
		if rest := a[len(address):]; rest != "" {
			hosts[nodeOf[rank]] = rest
		}
	}
	if err := n.Begin(&Job{Rank: b.Rank(), Size: b.Size(), Addresses: table, Hosts: hosts,
		NodeOf: nodeOf, Secret: said.secret, Universe: said.universe, Timeout: timeout}); err != nil {
		return nil, failed(err)
	}
	return &Endpoint{address, host, said.universe, said.secret, said.provider}, nil
}

// failed converts an error of the network to an MPI error and adds a description of the resource limit that was
// reached, if any. C returns system errors as text, so failed compares texts.
func failed(err error) error {
	why := ""
	if strings.HasSuffix(err.Error(), "Too many open files") {
		why = limit.ErrorDetail("/", unix.EMFILE)
	}
	return mpierr.New(abi.MPI_ERR_OTHER, "%v%s", err, why)
}

// firstOfNode returns whether a rank is the lowest rank of its node.
func firstOfNode(nodeOf []int32, rank int) bool {
	return slices.Index(nodeOf, nodeOf[rank]) == rank
}

// announced holds the values that rank 0 publishes for the other ranks.
type announced struct {
	secret   [16]byte // a process proves with each message to another node that it knows the secret
	universe uint64
	provider Provider
}

func choose(n Network) (a announced, err error) {
	wanted := os.Getenv(EnvProvider)
	if a.provider, err = n.Choose(wanted); err != nil {
		text := err.Error()
		if wanted != "" {
			text = EnvProvider + "=" + wanted + ": " + text
		}
		return a, mpierr.New(abi.MPI_ERR_OTHER, "%s", text)
	}
	var b [8]byte
	if err = random.Read(a.secret[:]); err == nil {
		err = random.Read(b[:])
		a.universe = binary.LittleEndian.Uint64(b[:])
	}
	if err != nil {
		return a, mpierr.New(abi.MPI_ERR_OTHER, "cannot create the random key with which the processes of the "+
			"job authenticate: %v", err)
	}
	return a, nil
}

// String returns the encoding: the secret, the universe, the provider's version, the provider's name.
func (a announced) String() string {
	b := binary.LittleEndian.AppendUint64(a.secret[:], a.universe)
	return string(binary.LittleEndian.AppendUint32(b, a.provider.Version)) + a.provider.Name
}

func parse(text string) (a announced, err error) {
	const fixed = len(a.secret) + 12
	if len(text) <= fixed {
		return a, mpierr.New(abi.MPI_ERR_OTHER, "rank 0 sent an invalid description of the network (%d "+
			"bytes)", len(text))
	}
	copy(a.secret[:], text)
	a.universe = binary.LittleEndian.Uint64([]byte(text[len(a.secret):]))
	a.provider.Version = binary.LittleEndian.Uint32([]byte(text[fixed-4:]))
	a.provider.Name = text[fixed:]
	return a, nil
}
