// The arguments of callbacks to Go. Each callback is declared where it is implemented. From these declarations
// core/abi/gen generates z_callbacks.h, and capi/z_callbacks.c, which fills in the table of callbacks.
#ifndef GOMPI_GO_CALLBACKS_H
#define GOMPI_GO_CALLBACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/abi.h"
#include "base/z_callbacks.h"

// The arguments of a collective as the application passed them. Handles and addresses are integers. A
// gompi_collective_side holds the arguments of the send side or of the receive side. C has not checked these arguments,
// unlike those in struct gompi_buffer (datatype/buffer.h).
struct gompi_collective {
	const char *name; // name of the MPI function
	int kind;         // core/coll.Kind
	int root;
	uintptr_t op, comm;
	struct gompi_collective_side {
		uintptr_t buf;
		int64_t count;
		uintptr_t type;
		// addresses of arrays with one element for each member. The elements are of type int or, if is_large is
		// true, MPI_Count (counts) and MPI_Aint (displs)
		uintptr_t counts, displs;
		uintptr_t types; // address of an array of MPI_Datatype, or 0; if not 0, displs are in bytes
	} send, recv;
	bool is_large;
	int32_t tag;   // nonblocking collectives: tag of the messages
	bool uses_shm; // the members communicate through shared memory; C calls Go only to report an error
	// The result of the agreement among node leaders in gompi_hierarchy_run: the number of bytes, and whether
	// another member's call differs. NULL if gompi_hierarchy_run has not run.
	const struct gompi_agreed {
		uint64_t bytes;
		const struct gompi_coll_mismatch *mismatch; // NULL if no call differs
	} * agreed;
};

#endif
