// Package tool implements, in C, the tool information interface (MPI-5.0 15.3): control variables, performance
// variables, categories, enumerations and events. It also implements MPI_Pcontrol.
//
// It reads the state of all other packages. No other package may know it.
package tool

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra -Werror -Wno-unused-parameter -fvisibility=hidden
#cgo CFLAGS: -I${SRCDIR}/.. -I${SRCDIR}/../../include
*/
import "C"

import (
	_ "gompirma/capi/base"
	_ "gompirma/capi/comm"
	_ "gompirma/capi/datatype"
	_ "gompirma/capi/fabric"
	_ "gompirma/capi/file"
	_ "gompirma/capi/group"
	_ "gompirma/capi/info"
	_ "gompirma/capi/message"
	_ "gompirma/capi/session"
	_ "gompirma/capi/tcp"
	_ "gompirma/capi/win"
)
