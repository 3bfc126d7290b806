package main

/*
#include "datatype/atomic.h"
#include "datatype/attributes.h"
#include "datatype/predefined.h"
#include "datatype/type_props.h"
#include "datatype/recipe.h"
*/
import "C"

import (
	"sync"
	"unsafe"

	kernels "gompirma/capi/datatype"
	"gompirma/core/abi"
	"gompirma/core/datatype"
	"gompirma/core/mpierr"
)

// init installs the predefined types in C's table.
func init() {
	datatype.Named = func(h uintptr) string {
		return nameOf(func(name *C.char) C.int { return C.gompi_type_name(C.uintptr_t(h), name) })
	}
	datatype.Pack, datatype.Unpack = kernels.Pack, kernels.Unpack
	datatype.Handles = typeHandles{}
	datatype.Predefined(func(t *datatype.Type) {
		if err := installType(t); err != nil {
			panic(err)
		}
		name := datatype.BasicOf(t.Handle()).Name
		C.gompi_type_set_default_name(C.uintptr_t(t.Handle()),
			(*C.char)(unsafe.Pointer(unsafe.StringData(name))), C.int(len(name)))
	})
}

// installType installs a predefined type in C.
func installType(t *datatype.Type) error {
	programBuf.mu.Lock()
	defer programBuf.mu.Unlock()
	prog := t.Assemble(programBuf.words[:])
	if !C.gompi_type_install(C.uintptr_t(t.Handle()), factsOf(t), (*C.int64_t)(unsafe.Pointer(&prog[0])),
		C.int64_t(len(prog))) {
		return mpierr.New(abi.MPI_ERR_INTERN, "out of memory for the description of datatype %s (%d bytes)",
			t, 8*len(prog))
	}
	return nil
}

// typeHandles implements datatype.Handles. C creates the handles of all types, and constructs most types. When Go first
// uses a type that C has constructed, Go constructs its own copy of the type.
type typeHandles struct{}

func (typeHandles) Add(t *datatype.Type, number uintptr) (uintptr, bool) {
	programBuf.mu.Lock()
	defer programBuf.mu.Unlock()
	prog := t.Assemble(programBuf.words[:])
	if !t.Committed() {
		prog[datatype.HeadMagic] = 0
	}
	h := C.gompi_type_add_from_go(factsOf(t), (*C.int64_t)(unsafe.Pointer(&prog[0])), C.int64_t(len(prog)),
		C.uintptr_t(number))
	return uintptr(h), h != 0
}

func (typeHandles) Remove(h uintptr) { C.gompi_type_remove(C.uintptr_t(h)) }

func (typeHandles) Commit(h uintptr) { C.gompi_type_commit_handle(C.uintptr_t(h)) }

func (typeHandles) Committed(h uintptr) bool { return bool(C.gompi_type_is_committed(C.uintptr_t(h))) }

func (typeHandles) Find(h uintptr) uintptr {
	var number C.uintptr_t
	t := C.gompi_type_find_unnumbered(C.uintptr_t(h), &number)
	if t == nil {
		return uintptr(number)
	}
	defer C.gompi_type_release(t)
	goCopyMu.Lock()
	defer goCopyMu.Unlock()
	if number = C.gompi_type_go_number(t); number != 0 { // another thread has constructed the copy
		return uintptr(number)
	}
	again, err := newGoCopy(t)
	if err != nil {
		return 0
	}
	known, ok := datatype.AssignHandle(again, h)
	if ok && !bool(C.gompi_type_set_go_number(t, C.uintptr_t(known))) { // another thread has freed the type
		datatype.RemoveNumber(known)
		return 0
	}
	return known
}

// goCopyMu is held while a thread constructs Go's copy of a type of C, so that each type has at most one copy.
var goCopyMu sync.Mutex

// newGoCopy constructs Go's copy of a type that C has constructed.
func newGoCopy(t *C.struct_gompi_type) (*datatype.Type, error) {
	r := (*recipe)(unsafe.Pointer(C.gompi_type_meta(t).recipe))
	return construct(r, formOf(bool(r.is_large))|datatype.HandleByCaller, func(h uintptr) (*datatype.Type, error) {
		if h < C.GOMPI_TYPE_FIRST+C.GOMPI_TYPE_PREDEFINED {
			return datatype.Get(h)
		}
		old := (*C.struct_gompi_type)(pointer(h))
		handle, number := uintptr(C.gompi_type_meta(old).handle), C.gompi_type_go_number(old)
		if known := datatype.ByNumber(uintptr(number)); known != nil && known.Handle() == handle {
			return known, nil
		}
		return newGoCopy(old)
	})
}

// programBuf holds the buffer in which type programs are assembled before C copies them. Longer programs are assembled
// in allocated memory.
var programBuf struct {
	mu    sync.Mutex
	words [64]int64
}

func factsOf(t *datatype.Type) C.struct_gompi_type_props {
	f := t.Facts()
	return C.struct_gompi_type_props{
		size: C.int64_t(f.Size), lb: C.int64_t(f.LB), extent: C.int64_t(f.Extent),
		true_lb: C.int64_t(f.TrueLB), true_extent: C.int64_t(f.TrueExtent),
		basic_count: C.int64_t(f.Numbers), basic_bytes: C.int64_t(f.Unit),
		integers: C.int64_t(f.Integers), addresses: C.int64_t(f.Addresses), counts: C.int64_t(f.Counts),
		types: C.int64_t(f.Types), combiner: C.int(f.Combiner), align: C.int(f.Align),
		is_large: C.bool(f.Large), is_resized: C.bool(f.Resized), swap_unit_bytes: C.int(f.Reversed),
	}
}

// openTypes passes the properties of the predefined types to C. It is called once for each instance, before any window
// exists.
func openTypes() {
	datatype.Predefined(func(t *datatype.Type) {
		b := t.Basic()
		swappable := false
		switch b.Class {
		case datatype.Signed, datatype.Unsigned, datatype.Logical, datatype.Address, datatype.Byte,
			datatype.Character:
			swappable = true
		}
		C.gompi_type_fill_tables(C.uintptr_t(b.Handle), C.int(b.Size), C.bool(b.Size == b.Extent),
			elementClass(b),
			C.bool(swappable))
	})
}

// elementClass returns the class of atomic updates for the elements of a predefined type.
func elementClass(b *datatype.Basic) C.int {
	sized := func(classes ...C.int) C.int {
		for i, c := range classes {
			if b.Size == 1<<i && b.Extent == b.Size {
				return c
			}
		}
		return C.GOMPI_NO_CLASS
	}
	switch b.Class {
	case datatype.Signed, datatype.Address, datatype.Character:
		return sized(C.GOMPI_I8, C.GOMPI_I16, C.GOMPI_I32, C.GOMPI_I64)
	case datatype.Unsigned:
		return sized(C.GOMPI_U8, C.GOMPI_U16, C.GOMPI_U32, C.GOMPI_U64)
	case datatype.Floating:
		return sized(C.GOMPI_NO_CLASS, C.GOMPI_NO_CLASS, C.GOMPI_F32, C.GOMPI_F64)
	case datatype.Logical:
		return sized(C.GOMPI_L8, C.GOMPI_L16, C.GOMPI_L32, C.GOMPI_L64)
	case datatype.Byte, datatype.Packed:
		return sized(C.GOMPI_BYTE)
	}
	return C.GOMPI_NO_CLASS
}
