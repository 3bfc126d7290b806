// Package fabric is the network between the nodes of a job, in C on libfabric: ordered records, reads and writes of
// registered memory.
//
// It must not know windows, messages or collectives: they listen on a port each.
package fabric

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra -Werror -Wno-unused-parameter -fvisibility=hidden
#cgo CFLAGS: -I${SRCDIR}/.. -I${SRCDIR}/../../include
#include <stdlib.h>

#include "fabric/agent.h"
#include "fabric/fabric.h"
#include "fabric/health.h"
#include "fabric/open.h"
#include "fabric/progress.h"
#include "tcp/tcp.h"

static inline uint32_t libfabric_version(void) {
	return gompi_libfabric.version != NULL ? gompi_libfabric.version() : 0;
}
*/
import "C"

import (
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"time"
	"unsafe"

	_ "gompirma/capi/base"
	_ "gompirma/capi/tcp"
)

// The headers are part of what the package is, so that who imports it is compiled anew when one changes.
//
//go:embed *.h
var _ embed.FS

// Provider is gompirma's own, "tcp", or one of libfabric's.
type Provider struct {
	Name    string
	Version uint32
}

// Choose chooses the provider for a job; wanted is the one that the user has named, "" if none. Takes some 300 ms the
// first time if libfabric may have one.
func Choose(wanted string) (Provider, error) {
	var (
		why    [C.GOMPI_FABRIC_TEXT]C.char
		chosen C.struct_gompi_provider
		name   *C.char
	)
	if wanted != "" {
		name = C.CString(wanted)
		defer C.free(unsafe.Pointer(name))
	}
	if !C.gompi_net_choose(name, &chosen, &why[0]) {
		return Provider{}, errors.New(C.GoString(&why[0]))
	}
	return Provider{C.GoString(&chosen.name[0]), uint32(chosen.version)}, nil
}

// Candidate is a provider that there is here, and why it is taken or not.
type Candidate struct {
	Provider
	Taken bool
	Why   string
}

// Candidates lists them, the own one first, then libfabric's in its order; wanted as for Choose. version is that of
// libfabric, "" if it is not there.
func Candidates(wanted string) (list []Candidate, version string, err error) {
	const most = 64
	var (
		why  [C.GOMPI_FABRIC_TEXT]C.char
		name *C.char
		all  [most]C.struct_gompi_candidate
	)
	if wanted != "" {
		name = C.CString(wanted)
		defer C.free(unsafe.Pointer(name))
	}
	n := C.gompi_net_candidates(name, &all[0], most, &why[0])
	for i := range all[:n] {
		c := &all[i]
		list = append(list, Candidate{Provider{C.GoString(&c.provider.name[0]), uint32(c.provider.version)},
			bool(c.taken), C.GoString(c.why)})
	}
	if text := C.GoString(&why[0]); text != "" {
		err = errors.New(text)
	}
	if v := uint32(C.libfabric_version()); v != 0 {
		version = fmt.Sprintf("%d.%d", v>>16, v&0xffff)
	}
	return list, version, err
}

// Addresses returns what the own provider would publish about this host, best first: a line for each address, with
// its interface and what it is, separated by tabs.
func Addresses() (string, error) {
	var text [C.GOMPI_TCP_TEXT]C.char
	if !C.gompi_tcp_addresses(&text[0], C.GOMPI_TCP_TEXT) {
		return "", errors.New(C.GoString(&text[0]))
	}
	return C.GoString(&text[0]), nil
}

// Open opens this process' endpoint and returns its address and what processes of the same host have in common of
// theirs, which one of a node publishes.
func Open(p Provider) (address, host string, err error) {
	var (
		why         [C.GOMPI_FABRIC_TEXT]C.char
		at          [C.GOMPI_ADDRESS]C.char
		here        [C.GOMPI_HOST]C.char
		length, its C.size_t
	)
	provider := C.struct_gompi_provider{version: C.uint32_t(p.Version)}
	for i := 0; i < len(p.Name) && i < len(provider.name)-1; i++ {
		provider.name[i] = C.char(p.Name[i])
	}
	if !C.gompi_net_open(&provider, &at[0], &length, &here[0], &its, &why[0]) {
		return "", "", errors.New(C.GoString(&why[0]))
	}
	return C.GoStringN(&at[0], C.int(length)), C.GoStringN(&here[0], C.int(its)), nil
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

// Begin says who is where. From then on the network can be used.
func Begin(j Job) error {
	var (
		why [C.GOMPI_FABRIC_TEXT]C.char
		pin runtime.Pinner
	)
	defer pin.Unpin()
	addresses, nodes := unsafe.SliceData(j.Addresses), unsafe.SliceData(j.NodeOf)
	hosts, at := []byte{0}, []uint32{0}
	for _, h := range j.Hosts {
		hosts = append(hosts[:at[len(at)-1]], h...)
		at = append(at, uint32(len(hosts)))
	}
	pin.Pin(addresses)
	pin.Pin(nodes)
	pin.Pin(&hosts[:1][0])
	pin.Pin(&at[0])
	job := C.struct_gompi_net_job{
		size: C.int(j.Size), rank: C.int(j.Rank),
		addresses:     (*C.char)(unsafe.Pointer(addresses)),
		address_bytes: C.size_t(len(j.Addresses) / j.Size),
		nodes:         C.int(len(j.Hosts)),
		hosts:         (*C.char)(unsafe.Pointer(unsafe.SliceData(hosts))),
		host_at:       (*C.uint32_t)(unsafe.Pointer(&at[0])),
		node_of:       (*C.int32_t)(unsafe.Pointer(nodes)),
		timeout:       C.int64_t(j.Timeout),
	}
	for i := range job.secret {
		job.secret[i] = C.uint64_t(binary.LittleEndian.Uint64(j.Secret[8*i:]))
	}
	if !C.gompi_net_begin(&job, &why[0]) {
		return errors.New(C.GoString(&why[0]))
	}
	return nil
}

// Leaving says that the job is about to end: nobody who goes is lost any longer.
func Leaving() { C.gompi_health_end() }

// Run is the network agent: it sees to the network until Stop while nobody else does, and sleeps while there is
// nothing.
func Run()  { C.gompi_net_agent_run() }
func Stop() { C.gompi_net_agent_stop() }

// End closes the network, once Run has returned. Nobody waits for anything of this process any longer.
func End() { C.gompi_net_end() }
