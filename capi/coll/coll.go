// Package coll is collectives in C among members that share memory.
package coll

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra -Werror -Wno-unused-parameter -fvisibility=hidden
#cgo CFLAGS: -I${SRCDIR}/.. -I${SRCDIR}/../../include
*/
import "C"

import (
	_ "gompirma/capi/base"
	_ "gompirma/capi/comm"
)
