// Package fabric sets up the network between the nodes of a job: which provider, who is where, the job's
// secret. The network itself is C (capi/fabric), behind Network. It must not know what travels through it.
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

// EnvProvider names the provider to take.
const EnvProvider = "GOMPIRMA_PROVIDER"

const (
	announcement = "fabric"   // of rank 0: what all take
	addresses    = "fabric.a" // of each
)

// Network is the network as this package sets it up, in the order of the methods.
type Network interface {
	// Choose chooses the provider for a job; wanted is the one that the user has named, "" if none. Takes some
	// 300 ms the first time if libfabric may have one.
	Choose(wanted string) (Provider, error)
	// Open opens this process' endpoint and returns its address and what processes of the same host have in common
	// of theirs, which one of a node publishes.
	Open(p Provider) (address, host string, err error)
	// Begin says who is where. From then on the network can be used.
	Begin(j *Job) error
	// Run is the progress thread of the network: it sees to the network until Stop while nobody else does, and
	// sleeps while there is nothing.
	Run()
	// Leaving says that the job is about to end: nobody who goes is lost any longer.
	Leaving()
	Stop()
	// End closes the network, once Run has returned. Nobody waits for anything of this process any longer.
	End()
}

// Provider is gompirma's own, "tcp", or one of libfabric's.
type Provider struct {
	Name    string
	Version uint32
}

// Job is the processes of the job and what they have agreed on.
type Job struct {
	Rank, Size int
	Addresses  []byte   // of all, by rank, of the same length, one after the other
	Hosts      []string // by node: what one of its processes has published of its host
	NodeOf     []int32  // by rank: number of the node
	Secret     [16]byte
	Timeout    time.Duration // of silence after which a peer is lost; 0: none
}

// Open opens the network n of a job that spans nodes. Collective over the job: a published value and about 2 sqrt(Size)
// fetched ones for each process, three fences. A peer may be silent for timeout, 0: for ever. MPI_ERR_OTHER: the
// provider that the user wants is not there.
func Open(n Network, b boot.Client, nodeOf []int32, timeout time.Duration) error {
	var said announced
	var err error
	if b.Rank() == 0 {
		if said, err = choose(n); err != nil {
			return err
		}
		if err := b.Put(announcement, said.String()); err != nil {
			return err
		}
	}
	if err := b.Fence(); err != nil {
		return mpierr.Wrap(err, "waiting for all ranks to load the network's library")
	}
	if b.Rank() != 0 {
		text, err := b.Get(0, announcement)
		if err != nil {
			return mpierr.Wrap(err, "waiting for the network that rank 0 has chosen")
		}
		if said, err = parse(text); err != nil {
			return err
		}
	}
	address, host, err := n.Open(said.provider)
	if err != nil {
		return failed(err)
	}
	published := address
	if firstOfNode(nodeOf, b.Rank()) {
		published += host
	}
	all, err := boot.AllGather(b, addresses, published)
	if err != nil {
		return mpierr.Wrap(err, "waiting for the addresses of all ranks in the network")
	}
	table := make([]byte, 0, len(all)*len(address))
	var hosts []string
	for rank, a := range all {
		if len(a) < len(address) || (host == "" && len(a) > len(address)) {
			return mpierr.New(abi.MPI_ERR_OTHER, "the address of rank %d in the network has %d bytes, "+
				"that of rank %d has %d: do the nodes use the same protocol (IPv4, IPv6)?", rank,
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
		NodeOf: nodeOf, Secret: said.secret, Timeout: timeout}); err != nil {
		return failed(err)
	}
	return nil
}

// failed is an error of the network with the limit that it has met, as C writes the system's word for it.
func failed(err error) error {
	why := ""
	if strings.HasSuffix(err.Error(), "Too many open files") {
		why = limit.Why("/", unix.EMFILE)
	}
	return mpierr.New(abi.MPI_ERR_OTHER, "%v%s", err, why)
}

// firstOfNode returns whether a rank is the lowest of its node.
func firstOfNode(nodeOf []int32, rank int) bool {
	return slices.Index(nodeOf, nodeOf[rank]) == rank
}

// announced is what rank 0 tells the others.
type announced struct {
	secret   [16]byte // that every message between the nodes proves to know
	provider Provider
}

func choose(n Network) (a announced, err error) {
	if a.provider, err = n.Choose(os.Getenv(EnvProvider)); err != nil {
		return a, mpierr.New(abi.MPI_ERR_OTHER, "%v", err)
	}
	if err = random.Read(a.secret[:]); err != nil {
		return a, mpierr.New(abi.MPI_ERR_OTHER, "the job's secret: %v", err)
	}
	return a, nil
}

// String is the secret, the provider's version, its name.
func (a announced) String() string {
	return string(a.secret[:]) + string(binary.LittleEndian.AppendUint32(nil, a.provider.Version)) + a.provider.Name
}

func parse(text string) (a announced, err error) {
	const fixed = len(a.secret) + 4
	if len(text) <= fixed {
		return a, mpierr.New(abi.MPI_ERR_OTHER, "rank 0 has announced %d bytes about the network", len(text))
	}
	copy(a.secret[:], text)
	a.provider.Version = binary.LittleEndian.Uint32([]byte(text[len(a.secret):fixed]))
	a.provider.Name = text[fixed:]
	return a, nil
}
