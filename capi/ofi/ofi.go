// Package ofi is a network in C (interface: package net) on the providers of libfabric (OFI). libfabric is loaded at
// run time.
package ofi

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra -Werror -Wno-unused-parameter -fvisibility=hidden
#cgo CFLAGS: -I${SRCDIR}/.. -I${SRCDIR}/../../include
*/
import "C"

import (
	"embed"

	_ "gompirma/capi/net"
)

// The headers are embedded so that importing packages are compiled again when a header changes.
//
//go:embed *.h
var _ embed.FS
