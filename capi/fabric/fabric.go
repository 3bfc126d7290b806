// Package fabric is the network between the nodes of a job, written in C. It transfers ordered records, and reads and
// writes registered memory, through the interface of package net.
//
// The package must not depend on windows, messages or collectives, which register handlers for their own ports.
package fabric

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra -Werror -Wno-unused-parameter -fvisibility=hidden
#cgo CFLAGS: -I${SRCDIR}/.. -I${SRCDIR}/../../include
#include <stdlib.h>

#include "fabric/fabric.h"
#include "fabric/open.h"
#include "fabric/progress.h"
#include "ofi/ofi.h"
#include "tcp/address.h"
*/
import "C"

import (
	"embed"
	"errors"
	"fmt"
	"unsafe"

	_ "gompirma/capi/base"
	_ "gompirma/capi/net"
	_ "gompirma/capi/ofi"
	_ "gompirma/capi/tcp"
	_ "gompirma/capi/ucx"
)

// The headers are embedded so that importing packages are compiled again when a header changes.
//
//go:embed *.h
var _ embed.FS

// Provider names a provider: gompirma's own, "tcp", or one of libfabric's.
type Provider struct {
	Name    string
	Version uint32
}

// Choose chooses the provider for a job. The argument wanted is the name that the user has given, or "". The first call
// takes about 300 ms if it has to load libfabric.
func Choose(wanted string) (Provider, error) {
	var (
		detail [C.GOMPI_NET_ERROR_BYTES]C.char
		chosen C.struct_gompi_provider
		name   *C.char
	)
	if wanted != "" {
		name = C.CString(wanted)
		defer C.free(unsafe.Pointer(name))
	}
	if !C.gompi_net_choose(name, &chosen, &detail[0]) {
		return Provider{}, errors.New(C.GoString(&detail[0]))
	}
	return Provider{C.GoString(&chosen.name[0]), uint32(chosen.version)}, nil
}

// Candidate is a provider on this machine. Detail is the reason why it is chosen or not.
type Candidate struct {
	Provider
	Chosen bool
	Detail string
}

// Candidates lists the providers: gompirma's own first, then UCX, then libfabric's in its order. The argument wanted is
// as for Choose. The result version is the version of libfabric, or "" if libfabric is not installed.
func Candidates(wanted string) (list []Candidate, version string, err error) {
	const maxCandidates = 64
	var (
		detail [C.GOMPI_NET_ERROR_BYTES]C.char
		name   *C.char
		all    [maxCandidates]C.struct_gompi_candidate
	)
	if wanted != "" {
		name = C.CString(wanted)
		defer C.free(unsafe.Pointer(name))
	}
	n := C.gompi_net_candidates(name, &all[0], maxCandidates, &detail[0])
	for i := range all[:n] {
		c := &all[i]
		list = append(list, Candidate{Provider{C.GoString(&c.provider.name[0]), uint32(c.provider.version)},
			bool(c.is_chosen), C.GoString(c.explanation)})
	}
	if text := C.GoString(&detail[0]); text != "" {
		err = errors.New(text)
	}
	if v := uint32(C.gompi_ofi_version()); v != 0 {
		version = fmt.Sprintf("%d.%d", v>>16, v&0xffff)
	}
	return list, version, err
}

// Addresses returns the addresses that gompirma's own provider would publish for this host, best first. Each line holds
// an address, its interface and its kind, separated by tabs.
func Addresses() (string, error) {
	var text [C.GOMPI_NET_ERROR_BYTES]C.char
	if !C.gompi_host_addresses(&text[0], C.GOMPI_NET_ERROR_BYTES) {
		return "", errors.New(C.GoString(&text[0]))
	}
	return C.GoString(&text[0]), nil
}
