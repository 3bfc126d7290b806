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
#include "fabric/open.h"
#include "fabric/progress.h"

static inline void lasts(void) {
	gompi_fabric_push(-1);
	gompi_agent_asleep();
}
*/
import "C"

import (
	"embed"
	"encoding/binary"
	"errors"
	"unsafe"

	_ "gompirma/capi/base"
)

// The headers are part of what the package is, so that who imports it is compiled anew when one changes.
//
//go:embed *.h
var _ embed.FS

// Provider is one of libfabric's.
type Provider struct {
	Name    string
	Version uint32
}

// Choose loads libfabric and chooses the provider for a job; wanted is the one that the user has named, "" if none.
// Takes some 300 ms the first time.
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

// Open opens this process' endpoint and returns its address.
func Open(p Provider) (string, error) {
	var (
		why     [C.GOMPI_FABRIC_TEXT]C.char
		address [C.GOMPI_ADDRESS]C.char
		length  C.size_t
	)
	provider := C.struct_gompi_provider{version: C.uint32_t(p.Version)}
	for i := 0; i < len(p.Name) && i < len(provider.name)-1; i++ {
		provider.name[i] = C.char(p.Name[i])
	}
	if !C.gompi_net_open(&provider, &address[0], &length, &why[0]) {
		return "", errors.New(C.GoString(&why[0]))
	}
	return string(C.GoBytes(unsafe.Pointer(&address[0]), C.int(length))), nil
}

// Begin says who is where: the addresses of all processes, by rank, of the same length, one after the other. From then
// on the network can be used.
func Begin(addresses []byte, size, rank int, secret [16]byte) error {
	var why [C.GOMPI_FABRIC_TEXT]C.char
	words := [2]C.uint64_t{C.uint64_t(binary.LittleEndian.Uint64(secret[:])),
		C.uint64_t(binary.LittleEndian.Uint64(secret[8:]))}
	if !C.gompi_net_begin((*C.char)(unsafe.Pointer(unsafe.SliceData(addresses))), C.size_t(len(addresses)/size),
		C.int(size), C.int(rank), &words[0], &why[0]) {
		return errors.New(C.GoString(&why[0]))
	}
	return nil
}

// Run is the network agent: it sees to the network until Stop while nobody else does, and sleeps while there is
// nothing.
func Run()  { C.gompi_net_agent_run() }
func Stop() { C.gompi_net_agent_stop() }

// End closes the network, once Run has returned. Nobody waits for anything of this process any longer.
func End() { C.gompi_net_end() }

// Progress is a step of a wait in Go, Lasts is called by one that lasts.
func Progress() bool { return bool(C.gompi_fabric_progress()) }
func Lasts()         { C.lasts() }
