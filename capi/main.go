// Command capi is the library libgompirma.so: the C functions of the standard ABI in front of the Go core. Build it
// with
//
//	go build -buildmode=c-shared -ldflags=-extldflags=-Wl,-soname,libgompirma.so.0 -o build/libgompirma.so.0 ./capi
//
// This directory contains the functions that Go implements, and generated C. All other C is in the subdirectories. Each
// subdirectory is a package, and its imports define which headers it may include. The function MPI_Foo_bar of the
// standard is implemented by gompi_foo_bar. This is either a C function in a subdirectory, with the types of the
// standard, or a Go export in this directory, with handles and pointers as uintptr. The generated entry points
// (z_entry_*.c) call Go exports. After adding a function run go generate ./core/abi.
package main

// z_exports.so is a linker script: it exports only MPI_*, PMPI_* and MPIX_*. The Go linker itself adds -z nodelete.

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra -Werror -Wno-unused-parameter -fvisibility=hidden
#cgo CFLAGS: -I${SRCDIR} -I${SRCDIR}/../include
#cgo LDFLAGS: ${SRCDIR}/z_exports.so
*/
import "C"

import (
	_ "gompirma/capi/attribute"
	_ "gompirma/capi/base"
	_ "gompirma/capi/coll"
	_ "gompirma/capi/comm"
	_ "gompirma/capi/datatype"
	_ "gompirma/capi/engine"
	_ "gompirma/capi/environment"
	_ "gompirma/capi/errors"
	_ "gompirma/capi/fabric"
	_ "gompirma/capi/file"
	_ "gompirma/capi/group"
	_ "gompirma/capi/info"
	_ "gompirma/capi/message"
	_ "gompirma/capi/pack"
	"gompirma/capi/pmix"
	_ "gompirma/capi/rma"
	_ "gompirma/capi/runtime"
	_ "gompirma/capi/session"
	_ "gompirma/capi/tool"
	_ "gompirma/capi/transport"
	_ "gompirma/capi/update"
	_ "gompirma/capi/win"
	"gompirma/core/boot"
	_ "gompirma/core/lastwords" // prints one line if the Go runtime fails
)

func init() { boot.LoadPMIx = func() (boot.PMIx, error) { return pmix.Load() } }

func main() {}
