// Package net is the interface between package fabric and the implementations of a network: packages tcp, ofi and ucx.
// It consists of C headers.
package net

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
