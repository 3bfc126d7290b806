package main

/*
#define _GNU_SOURCE
#include <stdio.h>
#include <unistd.h>

#include "environment/env.h"
#include "runtime/last_thread.h"
*/
import "C"

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"gompirma/core"
	"gompirma/core/abi"
	"gompirma/core/mpierr"
	"gompirma/core/rma"
	"gompirma/core/version"
)

// Initialization and termination (chapter 11), and the calls of chapter 9 that env.c does not implement.

// graceFlush is the maximum time for which an exiting process waits until its output is flushed. The flush may block at
// a full pipe that no process reads, or at the lock of a stream from which a thread waits for input.
const graceFlush = 5 * time.Second

// exit flushes the output and ends the process. It runs no exit handlers, since those might call MPI.
func exit(code int32) {
	time.AfterFunc(graceFlush, func() { syscall.Exit(int(code)) })
	os.Stderr.Sync()
	C.fflush(nil)
	C._exit(C.int(code))
}

// start implements MPI_Init and MPI_Init_thread.
func start() error {
	err := initialize(func() error { return core.Start(dataPath{}) })
	if err == nil {
		setCommAttributes(core.Self())
		C.gompi_set_main_thread()
		err = storeParent(core.Self())
	}
	return err
}

// updateEnvironment copies the variables with the prefix GOMPIRMA_ from the environment of C to that of Go. The Go
// runtime has copied it when the library was loaded. So the library uses what the application has set before MPI_Init.
func updateEnvironment() {
	set := map[string]string{}
	for p := C.environ; p != nil && *p != nil; p = (**C.char)(unsafe.Add(unsafe.Pointer(p), unsafe.Sizeof(p))) {
		name, value, _ := strings.Cut(C.GoString(*p), "=")
		if strings.HasPrefix(name, "GOMPIRMA_") && os.Getenv(name) != value {
			set[name] = value
		}
	}
	for name, value := range set {
		os.Setenv(name, value)
	}
}

// initialize calls f, which may open the process' instance. If the application has only this thread, all threads that
// start meanwhile belong to libraries such as libpmix. They are registered as library threads (runtime/last_thread.h).
func initialize(f func() error) error {
	if core.Self() == nil {
		updateEnvironment()
	}
	only := core.Self() == nil && bool(C.gompi_is_only_thread())
	err := f()
	if only {
		C.gompi_adopt_threads()
	}
	copyStateToC()
	return err
}

// ensure returns the process' instance. If a session has not opened it yet, ensure opens it.
func ensure() (p *core.Instance, err error) {
	if err := needRunning(); err != nil {
		return nil, err
	}
	err = initialize(func() error {
		p, err = core.Ensure(dataPath{})
		return err
	})
	return p, err
}

// copyMu makes the last copy of the state the newest one.
var copyMu sync.Mutex

// copyStateToC copies the state of core to C. Each change of the state is followed by a call.
func copyStateToC() {
	copyMu.Lock()
	defer copyMu.Unlock()
	C.gompi_state_set(C.bool(core.Started()), C.bool(core.Running()), C.bool(core.Finalized()))
}

//export gompi_init
func gompi_init(argc, argv uintptr) (rc int32) {
	defer guard("MPI_Init", 0, 0, &rc)
	return finish("MPI_Init", 0, 0, start())
}

//export gompi_init_thread
func gompi_init_thread(argc, argv uintptr, required int32, provided uintptr) (rc int32) {
	defer guard("MPI_Init_thread", 0, 0, &rc)
	switch required {
	case abi.MPI_THREAD_SINGLE, abi.MPI_THREAD_FUNNELED, abi.MPI_THREAD_SERIALIZED, abi.MPI_THREAD_MULTIPLE:
	default:
		return finish("MPI_Init_thread", 0, 0, mpierr.New(abi.MPI_ERR_ARG, "required is %d, which is not a "+
			"level of thread support such as MPI_THREAD_MULTIPLE",
			required))
	}
	err := start()
	if err == nil && provided != 0 {
		*out[int32](provided) = abi.MPI_THREAD_MULTIPLE
	}
	return finish("MPI_Init_thread", 0, 0, err)
}

//export gompi_finalize
func gompi_finalize() (rc int32) {
	defer guard("MPI_Finalize", 0, 0, &rc)
	if p := core.Self(); p != nil && p.IsWorldOpen() {
		// delete attributes first, while MPI still works (MPI-5.0 11.2.4)
		if err := deleteCommAttributes(p.SelfComm); err != nil {
			return finish("MPI_Finalize", 0, 0, err)
		}
	}
	err := core.Finish()
	copyStateToC()
	return finish("MPI_Finalize", 0, 0, err)
}

// notRunningText is the error text of calls that require MPI to be initialized and not finalized. The error class is
// MPI_ERR_OTHER, as in MPICH.
const notRunningText = "MPI is not initialized, or has been finalized"

// needRunning returns an error unless MPI is initialized and not finalized.
func needRunning() error {
	if !core.Running() {
		return mpierr.New(abi.MPI_ERR_OTHER, notRunningText)
	}
	return nil
}

// gompi_abort_job implements MPI_Abort. It does not return.
//
//gompi:callback void (uintptr_t comm, int errorcode)
//export gompi_abort_job
func gompi_abort_job(comm uintptr, errorcode int32) {
	abort(errorcode, fmt.Sprintf("MPI_Abort(%s, %d)", commText(comm), errorcode), false)
}

// commText returns the name of a predefined communicator, else the handle in hexadecimal.
func commText(h uintptr) string {
	switch h {
	case abi.MPI_COMM_WORLD:
		return "MPI_COMM_WORLD"
	case abi.MPI_COMM_SELF:
		return "MPI_COMM_SELF"
	case abi.MPI_COMM_NULL:
		return "MPI_COMM_NULL"
	}
	return fmt.Sprintf("%#x", h)
}

// exitStatus returns the low 8 bits of an error code as the status of a process, or 1 if they are 0.
func exitStatus(code int32) int32 {
	if code&0xff == 0 {
		return 1
	}
	return code & 0xff
}

//export gompi_get_library_version
func gompi_get_library_version(text, resultlen uintptr) int32 {
	return finish("MPI_Get_library_version", 0, 0,
		storeString(version.Library(), abi.MPI_MAX_LIBRARY_VERSION_STRING, text, resultlen))
}

// gompi_alloc_mem_uncached implements MPI_Alloc_mem if the cache of win/alloc_mem.c has no suitable block.
//
//gompi:callback int (int64_t size, uintptr_t info, void *baseptr) as "MPI_Alloc_mem"
//export gompi_alloc_mem_uncached
func gompi_alloc_mem_uncached(size int64, info, baseptr uintptr) int32 {
	p, err := ensure()
	if err != nil {
		return finish("MPI_Alloc_mem", 0, 0, err)
	}
	return storeNoObject("MPI_Alloc_mem", "baseptr", baseptr, func() (uintptr, error) {
		hints, err := winHints(info)
		if err != nil {
			return 0, err
		}
		return rma.AllocMem(p.Node, size, &hints)
	})
}

// gompi_alloc_mem_bytes returns the size of a small block of MPI_Alloc_mem in bytes, or 0 if there is no such block at
// the address.
//
//gompi:callback int64_t (const void *base)
//export gompi_alloc_mem_bytes
func gompi_alloc_mem_bytes(base uintptr) int64 { return rma.BlockBytes(base) }

// gompi_free_mem_uncached implements MPI_Free_mem for blocks that win/alloc_mem.c does not cache.
//
//gompi:callback int (void *base) as "MPI_Free_mem"
//export gompi_free_mem_uncached
func gompi_free_mem_uncached(base uintptr) (rc int32) {
	defer guard("MPI_Free_mem", 0, 0, &rc)
	p, err := ensure()
	if err == nil {
		err = rma.FreeMem(p.Node, base)
	}
	return finish("MPI_Free_mem", 0, 0, err)
}
