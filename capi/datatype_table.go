package main

/*
#include "datatype/facts.h"
*/
import "C"

import (
	"sync"
	"unsafe"

	kernels "gompirma/capi/datatype"
	"gompirma/core/abi"
	"gompirma/core/datatype"
	"gompirma/core/mpierr"
	"gompirma/core/trim"
)

// The predefined types are in C's table from the beginning.
func init() {
	trim.Also = func() { C.gompi_type_trim() }
	datatype.Pack, datatype.Unpack = kernels.Pack, kernels.Unpack
	datatype.Predefined(func(t *datatype.Type) {
		if err := installType(t); err != nil {
			panic(err)
		}
	})
}

// installType gives C the facts and the flattened form of a type that is committed. MPI_ERR_NO_MEM: there is no memory
// for them.
func installType(t *datatype.Type) error {
	assembling.mu.Lock()
	defer assembling.mu.Unlock()
	prog := t.Assemble(assembling.room[:])
	if !C.gompi_type_install(C.uintptr_t(t.Handle()), factsOf(t), (*C.int64_t)(unsafe.Pointer(&prog[0])),
		C.int64_t(len(prog))) {
		return mpierr.New(abi.MPI_ERR_NO_MEM, "no memory for the %d bytes that describe datatype %s",
			8*len(prog), t)
	}
	return nil
}

// gompi_tell_facts gives C the facts of a type that is asked for them before it is committed; 0: there is no such type.
//
//export gompi_tell_facts
func gompi_tell_facts(h uintptr) int32 {
	if t, err := datatype.Get(h); err == nil && bool(C.gompi_facts_put(C.uintptr_t(h), factsOf(t))) {
		return 1
	}
	return 0
}

// assembling is where programs are made before C copies them; a longer one finds its own place.
var assembling struct {
	mu   sync.Mutex
	room [64]int64
}

func factsOf(t *datatype.Type) C.struct_gompi_facts {
	f := t.Facts()
	return C.struct_gompi_facts{
		size: C.int64_t(f.Size), lb: C.int64_t(f.LB), extent: C.int64_t(f.Extent),
		true_lb: C.int64_t(f.TrueLB), true_extent: C.int64_t(f.TrueExtent),
		numbers: C.int64_t(f.Numbers), unit: C.int64_t(f.Unit),
		integers: C.int64_t(f.Integers), addresses: C.int64_t(f.Addresses), counts: C.int64_t(f.Counts),
		types: C.int64_t(f.Types), combiner: C.int(f.Combiner), large: C.bool(f.Large),
	}
}

// removeType takes a type, of which C may not know, from C.
func removeType(t *datatype.Type) { C.gompi_type_remove(C.uintptr_t(t.Handle())) }

// The head of a program is the same in C and in Go (layout.go says how this is checked).
var (
	_ = same[C.GOMPI_TYPE_HEAD-datatype.HeadWords]
	_ = same[C.GOMPI_TYPE_MAX_DEPTH-datatype.MaxDepth]
	_ = same[C.GOMPI_TYPE_CONTIGUOUS-datatype.FlagContiguous]
	_ = same[C.GOMPI_TYPE_ELEM_CONTIGUOUS-datatype.FlagElemContiguous]
	_ = same[C.GOMPI_TYPE_STRIDED-datatype.FlagStrided]
	_ = same[C.GOMPI_TYPE_OVERLAP-datatype.FlagOverlap]
	_ = same[unsafe.Offsetof(C.struct_gompi_type{}.magic)-8*datatype.HeadMagic]
	_ = same[unsafe.Offsetof(C.struct_gompi_type{}.words)-8*datatype.HeadWords_]
	_ = same[unsafe.Offsetof(C.struct_gompi_type{}.flags)-8*datatype.HeadFlags]
	_ = same[unsafe.Offsetof(C.struct_gompi_type{}.elem)-8*datatype.HeadElem]
	_ = same[unsafe.Offsetof(C.struct_gompi_type{}.elem_size)-8*datatype.HeadElemSize]
	_ = same[unsafe.Offsetof(C.struct_gompi_type{}.elements)-8*datatype.HeadElements]
	_ = same[unsafe.Offsetof(C.struct_gompi_type{}.size)-8*datatype.HeadSize]
	_ = same[unsafe.Offsetof(C.struct_gompi_type{}.lb)-8*datatype.HeadLB]
	_ = same[unsafe.Offsetof(C.struct_gompi_type{}.extent)-8*datatype.HeadExtent]
	_ = same[unsafe.Offsetof(C.struct_gompi_type{}.true_lb)-8*datatype.HeadTrueLB]
	_ = same[unsafe.Offsetof(C.struct_gompi_type{}.true_ub)-8*datatype.HeadTrueUB]
	_ = same[unsafe.Offsetof(C.struct_gompi_type{}.depth)-8*datatype.HeadDepth]
	_ = same[unsafe.Offsetof(C.struct_gompi_type{}.segments)-8*datatype.HeadSegments]
	_ = same[unsafe.Offsetof(C.struct_gompi_type{}.origin)-8*datatype.HeadOrigin]
	_ = same[unsafe.Offsetof(C.struct_gompi_type{}.root)-8*datatype.HeadRoot]
	_ = same[unsafe.Offsetof(C.struct_gompi_type{}.elem_origin)-8*datatype.HeadElemOrigin]
	_ = same[unsafe.Offsetof(C.struct_gompi_type{}.elem_root)-8*datatype.HeadElemRoot]
	_ = same[unsafe.Offsetof(C.struct_gompi_type{}.block)-8*datatype.HeadBlock]
	_ = same[unsafe.Offsetof(C.struct_gompi_type{}.repeat)-8*datatype.HeadRepeat]
	_ = same[unsafe.Offsetof(C.struct_gompi_type{}.stride)-8*datatype.HeadStride]
)
