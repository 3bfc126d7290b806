package engine

/*
#include "base/process.h"
*/
import "C"

import (
	"unsafe"

	_ "gompirma/capi/base"
	"gompirma/core/abi"
	"gompirma/core/mpierr"
	"gompirma/core/proc"
)

// Processes implements proc.Table. The table of processes is in C memory.
type Processes struct{ c *C.struct_gompi_processes }

// NewProcesses creates an empty table. It returns MPI_ERR_NO_MEM if out of memory.
func NewProcesses() (*Processes, error) {
	t := &Processes{C.gompi_processes_new()}
	if t.c == nil {
		return nil, mpierr.New(abi.MPI_ERR_NO_MEM, "out of memory for the table of processes")
	}
	return t, nil
}

// NewOnOneNode creates a table of n processes on this node. The argument self is the number of this process.
// NewOnOneNode returns MPI_ERR_NO_MEM if out of memory.
func NewOnOneNode(n int, self int32) (*Processes, error) {
	t, err := NewProcesses()
	if err == nil {
		_, err = t.Add(0, make([]int32, n), nil)
		t.SetSelf(self, 0, n)
	}
	return t, err
}

// CAddress returns the address of the table, for C.
func (t *Processes) CAddress() unsafe.Pointer { return unsafe.Pointer(t.c) }

// Free frees the table.
func (t *Processes) Free() { C.gompi_processes_free(t.c) }

// Add implements proc.Table.
func (t *Processes) Add(job uint32, nodeOf, index []int32) (first int32, err error) {
	first = int32(C.gompi_processes_add(t.c, C.uint32_t(job), C.int(len(nodeOf)),
		(*C.int32_t)(unsafe.SliceData(nodeOf)), (*C.int32_t)(unsafe.SliceData(index))))
	if first < 0 {
		return -1, mpierr.New(abi.MPI_ERR_NO_MEM, "out of memory for the table of processes: it has %d "+
			"entries, and %d must be added", t.Count(), len(nodeOf))
	}
	return first, nil
}

// AddForeign implements proc.Table.
func (t *Processes) AddForeign(job uint32, rank, node int32) (int32, error) {
	number := int32(C.gompi_processes_add_foreign(t.c, C.uint32_t(job), C.int(rank), C.int(node)))
	if number < 0 {
		return -1, mpierr.New(abi.MPI_ERR_NO_MEM, "out of memory for the table of processes: it has %d "+
			"entries, and 1 must be added", t.Count())
	}
	return number, nil
}

// SetSelf implements proc.Table.
func (t *Processes) SetSelf(number, first int32, size int) {
	t.c.self, t.c.world_first, t.c.world_size = C.int32_t(number), C.int32_t(first), C.int32_t(size)
}

// Self implements proc.Table.
func (t *Processes) Self() int32 { return int32(t.c.self) }

// Count implements proc.Table.
func (t *Processes) Count() int { return int(t.c.n) }

// Nodes implements proc.Table.
func (t *Processes) Nodes() int { return int(t.c.node_count) }

// At implements proc.Table.
func (t *Processes) At(number int32) proc.Process {
	const first = C.GOMPI_FIRST_CHUNK_ENTRIES
	i, size, at := 0, int32(first), number
	for ; at >= size; size *= 2 {
		at -= size
		i++
	}
	chunk := *(**C.struct_gompi_process)(unsafe.Pointer(&t.c.chunk[i]))
	return *(*proc.Process)(unsafe.Add(unsafe.Pointer(chunk), uintptr(at)*unsafe.Sizeof(*chunk)))
}

// Checks at compile time that proc.Process has the size of struct gompi_process.
var _ = [1]struct{}{}[unsafe.Sizeof(proc.Process{})-C.sizeof_struct_gompi_process]
