package main

/*
#include "info/info.h"
*/
import "C"

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/handle"
	"gompirma/core/info"
	"gompirma/core/mpierr"
	"gompirma/core/rma"
)

// Info objects (MPI-5.0 10), and the hints of communicators and windows (7.4.4, 12.2.7). Info objects belong to
// nothing, so their errors are raised on MPI_COMM_SELF; they may be used before MPI_Init. What only asks is in
// info/info.c.

// onInfo does what all calls on an info object do around their own work f. The addresses are those of results.
func onInfo(function string, h uintptr, f func(i *info.Info) error, results ...uintptr) (rc int32) {
	defer guard(function, 0, 0, &rc)
	if h == abi.MPI_INFO_ENV {
		fillEnv()
	}
	i, err := info.Get(h)
	if err == nil {
		err = null(results...)
	}
	if err == nil {
		err = f(i)
	}
	return finish(function, 0, 0, err)
}

var envOnce sync.Once

// fillEnv says what MPI_INFO_ENV holds.
func fillEnv() {
	envOnce.Do(func() {
		size, _ := strconv.Atoi(os.Getenv("PMI_SIZE"))
		line, _ := os.ReadFile("/proc/self/cmdline")
		var args []string
		if len(line) > 0 {
			args = strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
		}
		info.SetEnv(info.Env(args, size))
	})
}

// storeInfo makes an info object and stores its handle.
func storeInfo(at uintptr, pairs []info.Pair) error {
	if err := null(at); err != nil {
		return err
	}
	i, err := info.New(pairs...)
	if err == nil {
		*out[uintptr](at) = i.Handle()
	}
	return err
}

//export gompi_info_create
func gompi_info_create(at uintptr) (rc int32) {
	defer guard("MPI_Info_create", 0, 0, &rc)
	return finish("MPI_Info_create", 0, 0, storeInfo(at, nil))
}

//export gompi_info_create_env
func gompi_info_create_env(argc int32, argv, at uintptr) (rc int32) {
	defer guard("MPI_Info_create_env", 0, 0, &rc)
	if argc < 0 || argc > 0 && argv == 0 {
		return finish("MPI_Info_create_env", 0, 0, mpierr.New(abi.MPI_ERR_ARG, "%d arguments at address %#x",
			argc, argv))
	}
	var args []string
	if argc > 0 {
		for _, a := range slice[uintptr](argv, int(argc)) {
			args = append(args, cString(a))
		}
	}
	size, _ := strconv.Atoi(os.Getenv("PMI_SIZE"))
	return finish("MPI_Info_create_env", 0, 0, storeInfo(at, info.Env(args, size)))
}

//export gompi_info_dup
func gompi_info_dup(h, at uintptr) int32 {
	return onInfo("MPI_Info_dup", h, func(i *info.Info) error { return storeInfo(at, i.Pairs()) })
}

//export gompi_info_free
func gompi_info_free(at uintptr) (rc int32) {
	if err := null(at); err != nil {
		return finish("MPI_Info_free", 0, 0, err)
	}
	return onInfo("MPI_Info_free", *out[uintptr](at), func(i *info.Info) error {
		err := changeInfo(i, i.Free)
		if err == nil {
			*out[uintptr](at) = abi.MPI_INFO_NULL
		}
		return err
	})
}

//export gompi_info_set
func gompi_info_set(h, key, value uintptr) int32 {
	return onInfo("MPI_Info_set", h, func(i *info.Info) error {
		if value == 0 {
			return mpierr.New(abi.MPI_ERR_INFO_VALUE, "the value is a null pointer")
		}
		return changeInfo(i, func() error { return i.Set(cString(key), cString(value)) })
	})
}

//export gompi_info_delete
func gompi_info_delete(h, key uintptr) int32 {
	return onInfo("MPI_Info_delete", h, func(i *info.Info) error {
		return changeInfo(i, func() error { return i.Delete(cString(key)) })
	})
}

// putFlag stores a logical value.
func putFlag(at uintptr, value bool) {
	*out[int32](at) = 0
	if value {
		*out[int32](at) = 1
	}
}

// infoTold is held while C is told of an info object, and while one changes that C may have been told of: C has what
// is, or nothing.
var infoTold sync.Mutex

// changeInfo changes an info object, of which C knows nothing afterwards.
func changeInfo(i *info.Info, f func() error) error {
	infoTold.Lock()
	defer infoTold.Unlock()
	if i.Told {
		C.gompi_known_forget(&C.gompi_infos, C.uintptr_t(i.Handle()))
		i.Told = false
	}
	return f()
}

// gompi_tell_info gives C the pairs of an info object (info/info.c); 0: there is no such object.
//
//export gompi_tell_info
func gompi_tell_info(h uintptr) int32 {
	if h == abi.MPI_INFO_ENV {
		fillEnv()
	}
	infoTold.Lock()
	defer infoTold.Unlock()
	i, err := info.Get(h)
	if err != nil {
		return 0
	}
	if i.Told { // meanwhile
		return 1
	}
	var text []byte
	pairs := i.Pairs()
	for _, p := range pairs {
		text = append(append(append(append(text, p.Key...), 0), p.Value...), 0)
	}
	text = append(text, 0) // so that there is a first byte
	i.Told = bool(C.gompi_info_put(C.uintptr_t(h), C.int(len(pairs)), (*C.char)(unsafe.Pointer(&text[0])),
		C.size_t(len(text))))
	if !i.Told {
		return 0
	}
	return 1
}

// infoLookup returns the look-up of keys for a call with an info argument, nil for MPI_INFO_NULL.
func infoLookup(h uintptr) (func(key string) (string, bool), error) {
	if h == abi.MPI_INFO_ENV {
		fillEnv()
	}
	return info.Lookup(h)
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
func readHints(before []info.Pair, lookup func(key string) (string, bool)) []info.Pair {
	after := slices.Clone(before)
	if after == nil {
		for _, key := range commHints {
			after = append(after, info.Pair{Key: key, Value: "false"})
		}
	}
	if lookup == nil {
		return after
	}
	if v, ok := lookup(rma.KeyAssertKinds); ok {
		if kinds, ok := rma.ParseKinds(v); ok {
			after = append(slices.DeleteFunc(after,
				func(p info.Pair) bool { return p.Key == rma.KeyAssertKinds }),
				info.Pair{Key: rma.KeyAssertKinds, Value: kinds})
		}
	}
	for i := range after {
		v, ok := lookup(after[i].Key)
		if !ok || after[i].Key == rma.KeyAssertKinds {
			continue
		}
		if v = strings.TrimSpace(v); v == "true" || v == "false" {
			after[i].Value = v
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
		before, _ := c.Info.([]info.Pair)
		c.Info = readHints(before, lookup)
		return nil
	})
}

//export gompi_comm_get_info
func gompi_comm_get_info(comm_, used uintptr) int32 {
	return onComm("MPI_Comm_get_info", comm_, func(c *comm.Comm) error {
		sidecar.Lock()
		before, _ := c.Info.([]info.Pair)
		sidecar.Unlock()
		pairs := readHints(before, nil)
		asserted := ""
		if i := slices.IndexFunc(pairs, func(p info.Pair) bool { return p.Key == rma.KeyAssertKinds }); i >= 0 {
			asserted = pairs[i].Value
		}
		return storeInfo(used, append(pairs, info.Pair{Key: rma.KeyKinds, Value: rma.SupportedKinds(asserted)}))
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
		var pairs []info.Pair
		for _, p := range hints.Pairs() {
			pairs = append(pairs, info.Pair{Key: p.Key, Value: p.Value})
		}
		return storeInfo(used, pairs)
	})
}
