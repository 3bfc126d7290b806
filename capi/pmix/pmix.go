// Package pmix loads libpmix at run time. A process started by Open MPI's mpirun, PRRTE or Slurm uses it to find its
// job. Library implements the interface that core/boot requires of PMIx.
package pmix

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra -Werror -Wno-unused-parameter -fvisibility=hidden
#cgo CFLAGS: -I${SRCDIR}/.. -I${SRCDIR}/../../include
#cgo linux,amd64 CFLAGS: -isystem /usr/lib/x86_64-linux-gnu/pmix2/include
#cgo linux,arm64 CFLAGS: -isystem /usr/lib/aarch64-linux-gnu/pmix2/include
#include <stdlib.h>

#include "pmix/library.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Library is libpmix in a process that a launcher has started.
type Library struct {
	lost chan struct{}
}

// Load loads the library.
func Load() (*Library, error) {
	if detail := C.gompi_pmix_load(); detail != nil {
		return nil, errors.New(C.GoString(detail))
	}
	return &Library{lost: make(chan struct{})}, nil
}

// Init connects the process to its launcher and returns its rank.
func (l *Library) Init() (rank int, err error) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return 0, fmt.Errorf("cannot create an eventfd: %w", err)
	}
	var r C.uint32_t
	if err := callError("PMIx_Init", C.gompi_pmix_init(&r, C.int(fd))); err != nil {
		unix.Close(fd)
		return 0, err
	}
	go func(f *os.File) { // waits in Go's network poller, which needs no thread per descriptor
		var b [8]byte
		if _, err := f.Read(b[:]); err == nil {
			close(l.lost)
		}
	}(os.NewFile(uintptr(fd), "launcher"))
	return int(r), nil
}

// Lost returns a channel that is closed when the connection to the launcher is lost.
func (l *Library) Lost() <-chan struct{} { return l.lost }

// Number returns the number that the launcher provides under a key: about the job if ofJob is true, else about this
// process. It returns false if the launcher does not provide the key.
func (l *Library) Number(key string, ofJob bool) (int, bool) {
	k := C.CString(key)
	defer C.free(unsafe.Pointer(k))
	var n C.uint64_t
	if !C.gompi_pmix_get_number(k, C.bool(ofJob), &n) || n > 1<<31-1 {
		return 0, false
	}
	return int(n), true
}

// Put publishes a value. Other processes see it after a fence.
func (l *Library) Put(key, value string) error {
	k := C.CString(key)
	defer C.free(unsafe.Pointer(k))
	v := C.CString(value) // never NULL: even an empty value has a terminating 0
	defer C.free(unsafe.Pointer(v))
	return callError("PMIx_Put", C.gompi_pmix_put(k, unsafe.Pointer(v), C.size_t(len(value))))
}

// Fence waits until all processes of the job have called Fence, and fetches the values that they have published.
func (l *Library) Fence() error { return callError("PMIx_Fence", C.gompi_pmix_fence()) }

// Get returns the value that another process has published under a key.
func (l *Library) Get(rank int, key string) (string, error) {
	k := C.CString(key)
	defer C.free(unsafe.Pointer(k))
	var value *C.char
	var bytes C.size_t
	if err := callError("PMIx_Get", C.gompi_pmix_get(C.uint32_t(rank), k, &value, &bytes)); err != nil {
		return "", err
	}
	defer C.free(unsafe.Pointer(value))
	return string(unsafe.Slice((*byte)(unsafe.Pointer(value)), int(bytes))), nil
}

// Abort asks the launcher to end the job.
func (l *Library) Abort(status int, text string) error {
	t := C.CString(text)
	defer C.free(unsafe.Pointer(t))
	return callError("PMIx_Abort", C.gompi_pmix_abort(C.int(status), t))
}

// Finalize reports to the launcher that the process has finished.
func (l *Library) Finalize() error { return callError("PMIx_Finalize", C.gompi_pmix_finalize()) }

func callError(call string, status C.int) error {
	if status == 0 {
		return nil
	}
	return fmt.Errorf("%s: %s (%d)", call, C.GoString(C.gompi_pmix_error_text(status)), int(status))
}
