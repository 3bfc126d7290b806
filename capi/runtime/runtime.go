// Package runtime embeds the Go runtime in a C process. It starts the runtime without its signal handlers (go_start.c),
// checks the process limits that the runtime needs (rlimit.c), and prepares threads for calls into Go (cross.c). It
// raises errors without Go frames below the application's error handlers (raise.c). It ends the process with the
// application's last thread (last_thread.c).
package runtime

// The linker's --wrap makes every call from C into Go pass through cross.c, and every creation of a thread and every
// mapping of memory by the Go runtime through rlimit.c.

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra -Werror -Wno-unused-parameter -fvisibility=hidden
#cgo CFLAGS: -I${SRCDIR}/.. -I${SRCDIR}/../../include
#cgo LDFLAGS: -Wl,--wrap=crosscall2 -Wl,--wrap=pthread_create -Wl,--wrap=x_cgo_mmap
*/
import "C"

import (
	"embed"

	_ "gompirma/capi/base"
	_ "gompirma/capi/comm"
	_ "gompirma/capi/errors"
	_ "gompirma/capi/session"
	_ "gompirma/capi/win"
)

// The headers are embedded so that packages which import this one are rebuilt when a header changes.
//
//go:embed *.h
var _ embed.FS
