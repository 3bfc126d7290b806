// Package coll contains the collectives that C runs: among members that share memory, and in two levels over several
// nodes.
package coll

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra -Werror -Wno-unused-parameter -fvisibility=hidden
#cgo CFLAGS: -I${SRCDIR}/.. -I${SRCDIR}/../../include
*/
import "C"

import (
	"embed"

	_ "gompirma/capi/base"
	_ "gompirma/capi/comm"
	_ "gompirma/capi/datatype"
	_ "gompirma/capi/errors"
	_ "gompirma/capi/fabric"
	_ "gompirma/capi/info"
	_ "gompirma/capi/message"
	_ "gompirma/capi/transport"
)

// The headers are embedded, so that packages that import this one are rebuilt when a header changes.
//
//go:embed *.h
var _ embed.FS
