// Package update applies an accumulate at its target: the modes in which elements are updated, their locks, and the
// update itself, whatever path the operation has taken.
//
// It must not know origins, messages or checks.
package update

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra -Werror -Wno-unused-parameter -fvisibility=hidden
#cgo CFLAGS: -I${SRCDIR}/.. -I${SRCDIR}/../../include
*/
import "C"

import (
	"embed"

	_ "gompirma/capi/base"
	_ "gompirma/capi/datatype"
	_ "gompirma/capi/win"
)

// The headers are embedded so that packages which import this one are rebuilt when a header changes.
//
//go:embed *.h
var _ embed.FS
