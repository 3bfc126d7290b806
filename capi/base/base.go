// Package base is the ground that the data path in C stands on: the map of the memory that a node shares, every
// memory order, waiting and waking, the barrier, verdicts, and what the rooms may ask of whoever is above them (up.h).
//
// It must not know windows, datatypes or messages.
package base

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra -Werror -Wno-unused-parameter -fvisibility=hidden
#cgo CFLAGS: -I${SRCDIR}/.. -I${SRCDIR}/../../include
*/
import "C"

import (
	"embed"
)

// The headers are part of what the package is, so that who imports it is compiled anew when one changes.
//
//go:embed *.h
var _ embed.FS
