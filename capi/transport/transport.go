// Package transport carries operations to targets whose memory is not mapped in this process. For targets on this node,
// it uses packets in a ring, which a thread of the target applies, or process_vm_writev and process_vm_readv. For
// targets on other nodes, it uses records of the network, and reads and writes of registered memory.
//
// The package must not depend on MPI calls. Its callers have checked the arguments.
package transport

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra -Werror -Wno-unused-parameter -fvisibility=hidden
#cgo CFLAGS: -I${SRCDIR}/.. -I${SRCDIR}/../../include
*/
import "C"

import (
	"embed"

	_ "gompirma/capi/base"
	_ "gompirma/capi/datatype"
	_ "gompirma/capi/fabric"
	_ "gompirma/capi/message"
	_ "gompirma/capi/update"
	_ "gompirma/capi/win"
)

// The headers are embedded so that importing packages are compiled again when a header changes.
//
//go:embed *.h
var _ embed.FS
