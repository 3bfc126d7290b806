// Package message is messages between processes in C: matching, the eager and the rendezvous protocol, requests, and
// the calls of MPI that need nothing else. What is in Go here lets core/p2p start operations and look at them.
package message

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra -Werror -Wno-unused-parameter -fvisibility=hidden
#cgo CFLAGS: -I${SRCDIR}/.. -I${SRCDIR}/../../include
#include "message/engine.h"
*/
import "C"

import (
	_ "gompirma/capi/base"
	_ "gompirma/capi/comm"
	_ "gompirma/capi/datatype"
	_ "gompirma/capi/fabric"
	_ "gompirma/capi/win"
)
