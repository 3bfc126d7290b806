// Package types constructs datatypes in C for tests, and interprets the programs of datatypes in Go.
package types

import (
	"slices"
	"sync"

	kernels "gompirma/capi/datatype"
	"gompirma/core/abi"
	"gompirma/core/datatype"
	"gompirma/core/mpierr"
)

func init() {
	datatype.Pack, datatype.Unpack, datatype.Handles = kernels.Pack, kernels.Unpack, kernels.Handles{}
	datatype.Predefined(func(t *Type) {
		b := t.Basic()
		count, bytes := b.Numbers()
		kernels.Install(b.Handle, b.Name, t.Program(), kernels.Props{Size: b.Size, Extent: b.Extent,
			TrueExtent: b.End(), BasicCount: count, BasicBytes: bytes, External: b.External(),
			Combiner: abi.MPI_COMBINER_NAMED, Align: int32(b.Align), SwapUnit: b.Reversed()})
	})
}

// Type is a datatype.
type Type = datatype.Type

// Form is the form of a constructor: Small has int counts, Large has MPI_Count counts.
type Form bool

// The forms.
const (
	Small Form = false
	Large Form = true
)

func construct(form Form, r kernels.Recipe) (*Type, error) {
	r.Large = bool(form)
	h, class, text := kernels.Construct(r)
	if class != 0 {
		return nil, mpierr.New(class, "%s", text)
	}
	t, err := datatype.Get(h)
	live.mu.Lock()
	defer live.mu.Unlock()
	live.types = append(live.types, t)
	return t, err
}

// live holds the types that have been constructed since the last call of FreeAll. They may have been freed.
var live struct {
	mu    sync.Mutex
	types []*Type
}

// FreeAll frees all types.
func FreeAll() {
	live.mu.Lock()
	defer live.mu.Unlock()
	for _, t := range live.types {
		Free(t)
	}
	live.types = nil
}

// Contiguous calls MPI_Type_contiguous. Each of the following functions calls the constructor with its name. The
// displacements of a struct, and those of functions that begin with H, are in bytes.
func Contiguous(form Form, count int64, old *Type) (*Type, error) {
	return construct(form, kernels.Recipe{Combiner: abi.MPI_COMBINER_CONTIGUOUS, N: count, Types: handles(old)})
}

// Vector calls MPI_Type_vector.
func Vector(form Form, count, blocklength, stride int64, old *Type) (*Type, error) {
	return construct(form, kernels.Recipe{Combiner: abi.MPI_COMBINER_VECTOR, N: count, A: blocklength, B: stride,
		Types: handles(old)})
}

// Hvector calls MPI_Type_create_hvector.
func Hvector(form Form, count, blocklength, stride int64, old *Type) (*Type, error) {
	return construct(form, kernels.Recipe{Combiner: abi.MPI_COMBINER_HVECTOR, N: count, A: blocklength, B: stride,
		Types: handles(old)})
}

func blocks(form Form, combiner int32, blocklength int64, lengths, displacements []int64, old []*Type) (*Type, error) {
	return construct(form, kernels.Recipe{Combiner: combiner, N: int64(len(displacements)), A: blocklength,
		Lists: [4][]int64{lengths, displacements}, Types: handles(old...)})
}

// Indexed calls MPI_Type_indexed.
func Indexed(form Form, lengths, displacements []int64, old *Type) (*Type, error) {
	return blocks(form, abi.MPI_COMBINER_INDEXED, 0, lengths, displacements, []*Type{old})
}

// Hindexed calls MPI_Type_create_hindexed.
func Hindexed(form Form, lengths, displacements []int64, old *Type) (*Type, error) {
	return blocks(form, abi.MPI_COMBINER_HINDEXED, 0, lengths, displacements, []*Type{old})
}

// IndexedBlock calls MPI_Type_create_indexed_block.
func IndexedBlock(form Form, length int64, displacements []int64, old *Type) (*Type, error) {
	return blocks(form, abi.MPI_COMBINER_INDEXED_BLOCK, length, nil, displacements, []*Type{old})
}

// HindexedBlock calls MPI_Type_create_hindexed_block.
func HindexedBlock(form Form, length int64, displacements []int64, old *Type) (*Type, error) {
	return blocks(form, abi.MPI_COMBINER_HINDEXED_BLOCK, length, nil, displacements, []*Type{old})
}

// Struct calls MPI_Type_create_struct.
func Struct(form Form, lengths, displacements []int64, old []*Type) (*Type, error) {
	return blocks(form, abi.MPI_COMBINER_STRUCT, 0, lengths, displacements, old)
}

// Subarray calls MPI_Type_create_subarray.
func Subarray(form Form, sizes, subsizes, starts []int64, order int32, old *Type) (*Type, error) {
	return construct(form, kernels.Recipe{Combiner: abi.MPI_COMBINER_SUBARRAY, N: int64(len(sizes)), Order: order,
		Lists: [4][]int64{sizes, subsizes, starts}, Types: handles(old)})
}

// Darray calls MPI_Type_create_darray.
func Darray(form Form, size, rank int32, sizes []int64, distribs, dargs, grid []int32, order int32,
	old *Type) (*Type, error) {
	return construct(form, kernels.Recipe{Combiner: abi.MPI_COMBINER_DARRAY, N: int64(len(sizes)), A: int64(size),
		B: int64(rank), Order: order, Lists: [4][]int64{sizes, wide(distribs), wide(dargs), wide(grid)},
		Types: handles(old)})
}

// Resized calls MPI_Type_create_resized.
func Resized(form Form, old *Type, lb, extent int64) (*Type, error) {
	return construct(form, kernels.Recipe{Combiner: abi.MPI_COMBINER_RESIZED, A: lb, B: extent,
		Types: handles(old)})
}

// Dup calls MPI_Type_dup.
func Dup(form Form, old *Type) (*Type, error) {
	return construct(form, kernels.Recipe{Combiner: abi.MPI_COMBINER_DUP, Types: handles(old)})
}

// Commit commits a type and returns it. Free frees the handle of a type; it returns false if it is already freed.
func Commit(t *Type) *Type {
	kernels.Commit(t.Handle())
	return t
}

// Free frees the handle of a type. It returns false if the handle has been freed.
func Free(t *Type) bool { return kernels.Free(t.Handle()) }

func handles(types ...*Type) []uintptr {
	list := []uintptr{}
	for _, t := range types {
		list = append(list, t.Handle())
	}
	return list
}

func wide(list []int32) []int64 {
	out := []int64{}
	for _, v := range list {
		out = append(out, int64(v))
	}
	return slices.Clip(out)
}
