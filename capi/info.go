package main

/*
#include <stdlib.h>

#include "info/info.h"
*/
import "C"

import (
	"slices"
	"strings"
	"sync"
	"unsafe"

	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/handle"
	"gompirma/core/mpierr"
	"gompirma/core/rma"
)

// The hints of communicators and windows (MPI-5.0 7.4.4, 12.2.7), and what Go asks of info objects, which are C's
// (capi/info/).

// pair is a key of an info object with its value.
type pair struct{ key, value string }

// storeInfo makes an info object and stores its handle. MPI_ERR_NO_MEM.
func storeInfo(at uintptr, pairs []pair) error {
	if err := null(at); err != nil {
		return err
	}
	var text []byte
	for _, p := range pairs {
		text = append(append(append(append(text, p.key...), 0), p.value...), 0)
	}
	text = append(text, 0) // so that there is a first byte
	var h C.MPI_Info
	if !C.gompi_info_make(C.int(len(pairs)), (*C.char)(unsafe.Pointer(&text[0])), C.size_t(len(text)), &h) {
		return mpierr.New(abi.MPI_ERR_NO_MEM, "no more info objects are possible")
	}
	*out[uintptr](at) = uintptr(unsafe.Pointer(h))
	return nil
}

// putFlag stores a logical value.
func putFlag(at uintptr, value bool) {
	*out[int32](at) = 0
	if value {
		*out[int32](at) = 1
	}
}

// infoLookup returns the look-up of keys for a call with an info argument, nil for MPI_INFO_NULL. What the application
// changes in the object later does not change the result. MPI_ERR_INFO: there is no such object.
func infoLookup(h uintptr) (func(key string) (string, bool), error) {
	if h == abi.MPI_INFO_NULL {
		return nil, nil
	}
	var n C.int
	var bytes C.size_t
	var v C.struct_gompi_verdict
	c := C.gompi_info_pairs(C.MPI_Info(pointer(h)), &n, &bytes, &v)
	if c == nil {
		return nil, mpierr.New(int32(v.class), "%s", C.GoString(&v.text[0]))
	}
	text := strings.Split(C.GoStringN(c, C.int(bytes)), "\x00")
	C.free(unsafe.Pointer(c))
	return func(key string) (string, bool) {
		for i := range int(n) {
			if text[2*i] == key {
				return text[2*i+1], true
			}
		}
		return "", false
	}, nil
}

// infoValue returns the value of one key in an info argument, "" if it is not there.
func infoValue(h uintptr, key string) (string, error) {
	lookup, err := infoLookup(h)
	if err != nil || lookup == nil {
		return "", err
	}
	v, _ := lookup(key)
	return v, nil
}

// The assertions that a communicator can be given (MPI-5.0 7.4.4). All of them are allowed to be ignored, and are; they
// are kept to be told.
var commHints = []string{
	"mpi_assert_no_any_tag", "mpi_assert_no_any_source", "mpi_assert_exact_length", "mpi_assert_allow_overtaking",
	"mpi_assert_strict_start_ordering",
	"mpi_assert_strict_persistent_collective_ordering",
}

// sidecar guards what communicators keep for this file: Info.
var sidecar sync.Mutex

// readHints returns the pairs that are in force after lookup was applied to those before. A value that its key does not
// allow changes nothing.
func readHints(before []pair, lookup func(key string) (string, bool)) []pair {
	after := slices.Clone(before)
	if after == nil {
		for _, key := range commHints {
			after = append(after, pair{key: key, value: "false"})
		}
	}
	if lookup == nil {
		return after
	}
	if v, ok := lookup(rma.KeyAssertKinds); ok {
		if kinds, ok := rma.ParseKinds(v); ok {
			after = append(slices.DeleteFunc(after,
				func(p pair) bool { return p.key == rma.KeyAssertKinds }),
				pair{key: rma.KeyAssertKinds, value: kinds})
		}
	}
	for i := range after {
		v, ok := lookup(after[i].key)
		if !ok || after[i].key == rma.KeyAssertKinds {
			continue
		}
		if v = strings.TrimSpace(v); v == "true" || v == "false" {
			after[i].value = v
		}
	}
	return after
}

// hintsOf returns the hints of a communicator that is made with an info object; nil stands for the defaults.
func hintsOf(h uintptr) (any, error) {
	if h == abi.MPI_INFO_NULL {
		return nil, nil
	}
	lookup, err := infoLookup(h)
	if err != nil {
		return nil, err
	}
	return readHints(nil, lookup), nil
}

//export gompi_comm_set_info
func gompi_comm_set_info(comm_, h uintptr) int32 {
	return onComm("MPI_Comm_set_info", comm_, func(c *comm.Comm) error {
		lookup, err := infoLookup(h)
		if err != nil {
			return err
		}
		sidecar.Lock()
		defer sidecar.Unlock()
		before, _ := c.Info.([]pair)
		c.Info = readHints(before, lookup)
		return nil
	})
}

//export gompi_comm_get_info
func gompi_comm_get_info(comm_, used uintptr) int32 {
	return onComm("MPI_Comm_get_info", comm_, func(c *comm.Comm) error {
		sidecar.Lock()
		before, _ := c.Info.([]pair)
		sidecar.Unlock()
		pairs := readHints(before, nil)
		asserted := ""
		if i := slices.IndexFunc(pairs, func(p pair) bool { return p.key == rma.KeyAssertKinds }); i >= 0 {
			asserted = pairs[i].value
		}
		return storeInfo(used, append(pairs, pair{key: rma.KeyKinds, value: rma.SupportedKinds(asserted)}))
	})
}

// onWin does what all calls on a window do around their own work f.
func onWin(function string, h uintptr, f func(w *rma.Window) error) (rc int32) {
	defer guard(function, handle.Win, h, &rc)
	w, err := window(h)
	if err != nil {
		return finish(function, 0, 0, err)
	}
	return finish(function, handle.Win, h, f(w))
}

//export gompi_win_set_info
func gompi_win_set_info(win, h uintptr) int32 {
	return onWin("MPI_Win_set_info", win, func(w *rma.Window) error {
		lookup, err := infoLookup(h)
		return w.SetHints(lookup, err)
	})
}

//export gompi_win_get_info
func gompi_win_get_info(win, used uintptr) int32 {
	return onWin("MPI_Win_get_info", win, func(w *rma.Window) error {
		hints := w.Hints()
		var pairs []pair
		for _, p := range hints.Pairs() {
			pairs = append(pairs, pair{p.Key, p.Value})
		}
		return storeInfo(used, pairs)
	})
}
