package engine

/*
#include "fabric/progress_thread.h"
#include "fabric/fabric.h"
#include "fabric/health.h"
#include "fabric/open.h"
*/
import "C"

import (
	"encoding/binary"
	"errors"
	"runtime"
	"time"
	"unsafe"

	capifabric "gompirma/capi/fabric"
	"gompirma/core/fabric"
)

// maxForeign is the number of processes of other jobs that a process can connect to.
const maxForeign = 16384

// Network implements fabric.Network, the network between nodes, with the functions of capi/fabric.
type Network struct{}

// Choose implements fabric.Network.
func (Network) Choose(wanted string) (fabric.Provider, error) {
	p, err := capifabric.Choose(wanted)
	return fabric.Provider(p), err
}

// Open implements fabric.Network.
func (Network) Open(p fabric.Provider) (address, host string, err error) {
	var (
		detail   [C.GOMPI_NET_ERROR_BYTES]C.char
		endpoint C.struct_gompi_net_endpoint
	)
	provider := C.struct_gompi_provider{version: C.uint32_t(p.Version)}
	for i := 0; i < len(p.Name) && i < len(provider.name)-1; i++ {
		provider.name[i] = C.char(p.Name[i])
	}
	if !C.gompi_net_open(&provider, &endpoint, &detail[0]) {
		return "", "", errors.New(C.GoString(&detail[0]))
	}
	return C.GoStringN(&endpoint.address[0], C.int(endpoint.address_bytes)),
		C.GoStringN(&endpoint.host[0], C.int(endpoint.host_bytes)), nil
}

// Begin implements fabric.Network.
func (Network) Begin(j *fabric.Job) error {
	var (
		detail [C.GOMPI_NET_ERROR_BYTES]C.char
		pin    runtime.Pinner
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
		host_offsets:  (*C.uint32_t)(unsafe.Pointer(&at[0])),
		node_of:       (*C.int32_t)(unsafe.Pointer(nodes)),
		timeout_ns:    C.int64_t(j.Timeout),
		max_added:     maxForeign,
		universe:      C.uint64_t(j.Universe),
	}
	for i := range job.secret {
		job.secret[i] = C.uint64_t(binary.LittleEndian.Uint64(j.Secret[8*i:]))
	}
	if !C.gompi_net_begin(&job, &detail[0]) {
		return errors.New(C.GoString(&detail[0]))
	}
	return nil
}

// Add implements fabric.Network.
func (Network) Add(f *fabric.Foreign) error {
	var pin runtime.Pinner
	defer pin.Unpin()
	address, host := []byte(f.Address), []byte(f.Host+"\x00") // the host is empty, unless the network is TCP
	pin.Pin(&address[0])
	pin.Pin(&host[0])
	c := C.struct_gompi_net_foreign{
		peer: C.int(f.Peer), node: C.int(f.Node),
		universe: C.uint64_t(f.Universe), number: C.uint32_t(f.Number),
		address: (*C.char)(unsafe.Pointer(&address[0])), address_bytes: C.size_t(len(address)),
		host: (*C.char)(unsafe.Pointer(&host[0])), host_bytes: C.size_t(len(f.Host)),
	}
	for i := range c.secret {
		c.secret[i] = C.uint64_t(binary.LittleEndian.Uint64(f.Secret[8*i:]))
	}
	switch C.gompi_net_add(&c) {
	case C.NET_SUCCESS:
		return nil
	case C.NET_NO_MEM:
		return errors.New("out of memory")
	}
	return errors.New("its network address is invalid: use the same version of the network library in both jobs, " +
		"or set GOMPIRMA_PROVIDER=tcp in both")
}

// NotifyFinalize implements fabric.Network.
func (Network) NotifyFinalize(to []int32) {
	C.gompi_health_notify_finalize((*C.int32_t)(unsafe.SliceData(to)), C.int(len(to)))
}

// NotifyEnd implements fabric.Network.
func (Network) NotifyEnd() { C.gompi_health_notify_end() }

// Drain implements fabric.Network.
func (Network) Drain(ownJob bool, limit time.Duration) {
	C.gompi_net_drain(C.bool(ownJob), C.int(limit.Milliseconds()))
}

// Run and the following methods implement fabric.Network.
func (Network) Run()          { C.gompi_net_progress_run() }
func (Network) JobFinalized() { C.gompi_health_job_finalized() }
func (Network) JobEnding()    { C.gompi_health_stop() }
func (Network) Stop()         { C.gompi_net_progress_stop() }
func (Network) End()          { C.gompi_net_end() }
