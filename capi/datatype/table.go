package datatype

/*
#include "datatype/attributes.h"
#include "datatype/type_props.h"

// Returns the program of a live type; NULL if no type has the handle.
static const int64_t *program_of(uintptr_t handle, int64_t *words, bool *unnamed) {
	const struct gompi_type *t = gompi_type_get_any((MPI_Datatype)handle);
	if (t == NULL)
		return NULL;
	*words = t->words;
	*unnamed = gompi_type_is_library_owned(gompi_type_props_of(t));
	return (const int64_t *)t;
}

static void retain(const int64_t *program) { gompi_type_retain((const struct gompi_type *)program); }
static void release(const int64_t *program) { gompi_type_release((const struct gompi_type *)program); }
*/
import "C"

import "unsafe"

// Handles implements the interface Handles of core/datatype.
type Handles struct{}

// Find returns the program of a derived type.
func (Handles) Find(h uintptr) (program []int64, unnamed bool) {
	var words C.int64_t
	var isUnnamed C.bool
	p := C.program_of(C.uintptr_t(h), &words, &isUnnamed)
	return unsafe.Slice((*int64)(p), int(words)), bool(isUnnamed)
}

// Retain acquires a reference to the type with this program.
func (Handles) Retain(program []int64) { C.retain((*C.int64_t)(&program[0])) }

// Release releases a reference.
func (Handles) Release(program []int64) { C.release((*C.int64_t)(&program[0])) }

// Props mirrors struct gompi_type_props.
type Props struct {
	Size, LB, Extent, TrueLB, TrueExtent int64
	BasicCount, BasicBytes, External     int64
	Integers, Addresses, Counts, Types   int64
	Combiner, Align, SwapUnit            int32
	Large                                bool
}

// Install installs a predefined type.
func Install(h uintptr, name string, program []int64, p Props) {
	props := C.struct_gompi_type_props{
		size: C.int64_t(p.Size), extent: C.int64_t(p.Extent), true_extent: C.int64_t(p.TrueExtent),
		basic_count: C.int64_t(p.BasicCount), basic_bytes: C.int64_t(p.BasicBytes),
		external_bytes: C.int64_t(p.External), combiner: C.int(p.Combiner), align: C.int(p.Align),
		swap_unit_bytes: C.int(p.SwapUnit),
	}
	if !C.gompi_type_install(C.uintptr_t(h), props, (*C.int64_t)(&program[0]), C.int64_t(len(program))) {
		panic("the description of " + name + " is too long")
	}
	C.gompi_type_set_default_name(C.uintptr_t(h), (*C.char)(unsafe.Pointer(unsafe.StringData(name))),
		C.int(len(name)))
}
