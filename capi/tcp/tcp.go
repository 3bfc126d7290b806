// Package tcp is a network provider in C with the interface of a libfabric provider. It transfers messages and reads
// and writes memory between nodes over TCP. It connects any two processes of a job over any network that their hosts
// share.
//
// It must not know the meaning of the data that it transfers.
package tcp

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra -Werror -Wno-unused-parameter -fvisibility=hidden
#cgo CFLAGS: -I${SRCDIR}/.. -I${SRCDIR}/../../include
*/
import "C"

import (
	"embed"

	_ "gompirma/capi/base"
)

// The headers are embedded so that importing packages are compiled again when a header changes.
//
//go:embed *.h
var _ embed.FS
