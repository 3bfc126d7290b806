// Callbacks from these packages to the layer above them: to Go, and to the C code in capi. No package below capi calls
// either by name, so each package can be compiled, tested and understood without them.
#ifndef GOMPI_GO_CALLBACKS_H
#define GOMPI_GO_CALLBACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/abi.h"

#pragma GCC visibility push(hidden)

// The arguments of a blocking collective as the application passed them; handles and addresses are integers. A
// gompi_collective_side holds the arguments of one side. Nothing in it has been checked, so it is not a buffer in the
// sense of datatype/buffer.h.
struct gompi_coll_mismatch;
struct gompi_recipe;
struct gompi_collective {
	const char *name; // name of the MPI function
	int kind;         // core/coll.Kind
	int root;
	uintptr_t op, comm;
	struct gompi_collective_side {
		uintptr_t buf;
		int64_t count;
		uintptr_t type;
		// arrays with an element for each member: int, or MPI_Count and MPI_Aint if is_large
		uintptr_t counts, displs;
		uintptr_t types; // array of MPI_Datatype; displacements are then in bytes
	} send, recv;
	bool is_large;
	int32_t tag; // nonblocking collectives: tag of its messages
	// nonblocking collectives: the members communicate through shared memory, so Go only reports errors
	bool uses_shm;
	// The result of gompi_hierarchy_run, NULL if it has not run: the number of bytes, and whether another member's
	// call differs.
	const struct gompi_agreed {
		uint64_t bytes;
		const struct gompi_coll_mismatch *mismatch; // NULL if none differs
	} * agreed;
};

// The outputs of MPI_Type_get_contents and of its large-count form (is_large), and the capacity of each array.
struct gompi_contents {
	bool is_large;
	int64_t max_integers, max_addresses, max_counts, max_types;
	int *integers;
	MPI_Aint *addresses;
	MPI_Count *counts;
	MPI_Datatype *types;
};

// A constructor in capi/go_callbacks.c fills it in before the first call of MPI. All functions may block for a short
// time and may allocate memory. No fast path calls them.
struct gompi_go_callbacks {
	// Raises an error on an object and returns the value that the call must return. Use gompi_return_error in
	// error_status.h.
	int (*raise)(int class, const char *call, const char *text, int kind, uintptr_t object);
	// Stores the error detail of an error class that the application has raised on an object by
	// MPI_Comm_call_errhandler or MPI_Win_call_errhandler. The text has less than MPI_MAX_ERROR_STRING bytes. The
	// object may no longer exist. Returns the length of the text.
	int (*called_error_text)(int class, int kind, uintptr_t object, char *text);
	// Searches for failed processes of the node, and adds them to gompi_node_header()->failed_count.
	void (*find_failed)(void);
	// Stores the host name of a process of the job, as text of less than size bytes.
	void (*host_of)(int peer, char *name, int size);
	// attached_table returns where another rank's table of attached memory is mapped in this process. map_attached
	// returns where size bytes at an offset of the node's memory are mapped. Both return NULL if the memory cannot
	// be mapped.
	void *(*attached_table)(uintptr_t win, int rank);
	void *(*map_attached)(uintptr_t win, int64_t offset, int64_t size);
	// Allocates more memory for this process' own table of attached memory, and stores its size in bytes. Returns 0
	// or an error class; text, of sizeof ((struct gompi_error_status *)0)->text bytes, then holds the detail.
	int (*grow_attached)(uintptr_t win, uint64_t *bytes, char *text);
	// Exchanges blocks of this many bytes among the members of a window that spans nodes; all holds them by rank.
	// Returns 0 or an error class; text, of sizeof ((struct gompi_error_status *)0)->text bytes, then holds the
	// detail.
	int (*exchange_with_members)(uintptr_t win, const void *mine, size_t bytes, void *all, char *text);
	// Executes MPI_Barrier among members that share no memory. Returns the result of the call.
	int (*barrier_messages)(uintptr_t comm);
	// Constructs a datatype from unchecked arguments, and stores its handle. Returns the result of the call.
	int (*construct_type)(const struct gompi_recipe *recipe, uintptr_t newtype);
	// Notifies Go that the type with this number has been freed.
	void (*type_freed)(uintptr_t number);
	// Executes MPI_Type_get_contents for any type. Returns the result of the call.
	int (*get_contents)(const struct gompi_contents *contents, uintptr_t datatype);
	// Stores the unnamed type of a Fortran combiner with the requested precision and range. Returns the result of
	// the call.
	int (*create_f90)(const char *call, int combiner, int p, int r, MPI_Datatype *newtype);
	// count_elements stores the number of basic elements in the first n bytes of copies of a datatype.
	// element_bytes stores the size in bytes of the first n basic elements. Both return false if the bytes end
	// inside an element, if there are not enough elements, or if the result exceeds 64 bits.
	bool (*count_elements)(uintptr_t datatype, int64_t bytes, int64_t *elements);
	bool (*element_bytes)(uintptr_t datatype, int64_t elements, int64_t *bytes);
	// Executes a collective, including all checks. Returns the result of the call.
	int (*run_collective)(const struct gompi_collective *call);
	// Starts a nonblocking collective, or creates a persistent request for it, and stores the request. Returns the
	// result of the call.
	int (*start_collective)(const struct gompi_collective *call, bool persistent, uintptr_t info,
				uintptr_t request);
	// Two steps of MPI_Comm_idup, which Go identifies by a number. idup_deliver delivers the data of member 0
	// (offer) to this member; it returns 0 or an error class. idup_finish ends the call. failed is this member's
	// error class or 0; worst is the worst class of any member. It returns the final class and stores its text.
	int (*idup_deliver)(uintptr_t number, const char *offer);
	int (*idup_finish)(uintptr_t number, const char *offer, int failed, int worst, char *text);
	// Notifies Go that no started operation needs a freed communicator any longer.
	void (*release_comm)(uintptr_t owner);
	// Shared memory for the members of a communicator on this node. alloc_block allocates zeroed memory and stores
	// its name; it returns false if out of memory. map_block maps memory that a member has allocated; it returns
	// NULL if it cannot be mapped. free_block releases memory that no member uses any longer.
	bool (*alloc_block)(uintptr_t owner, uint64_t bytes, uint64_t *name);
	void *(*map_block)(uintptr_t owner, uint64_t name, uint64_t bytes);
	void (*free_block)(uintptr_t owner, uint64_t name, uint64_t bytes);
	// Writes to text, of sizeof ((struct gompi_error_status *)0)->text bytes, how another member's call differs
	// from this member's. Returns the error class.
	int (*mismatch_text)(const struct gompi_coll_mismatch *mismatch, char *text);
	// Raises the error that another member's call differs from this member's, and returns the value that the call
	// must return.
	int (*raise_mismatch)(uintptr_t comm, const char *call, const struct gompi_coll_mismatch *mismatch);
	// Allocates more zeroed memory of a communicator for shared-memory collectives. Collective. Returns NULL at all
	// members if out of memory. owner is the value that was passed when these collectives were set up.
	void *(*grow_shm)(uintptr_t owner, uint64_t bytes);
	// Calls a reduction function of the application: an MPI_User_function or, if large, an MPI_User_function_c.
	void (*call_user_op)(uintptr_t function, bool large, uintptr_t in, uintptr_t inout, int64_t count,
			     uintptr_t type);
	// Executes MPI_Reduce_local, including all checks. Returns the result of the call.
	int (*reduce_local)(uintptr_t in, uintptr_t inout, int64_t count, uintptr_t datatype, uintptr_t op);
	// Computes inout = in op inout for the elements in n bytes, with a reduction implemented in Go. Returns 0 or an
	// error class.
	int (*reduce_in_go)(uintptr_t reduction, const void *in, void *inout, uint64_t bytes);
};
extern struct gompi_go_callbacks gompi_go_callbacks;

#pragma GCC visibility pop
#endif
