// What the rooms may ask of whoever stands above them: of Go, which decides and remembers, and of the C beside it.
// Nothing below capi calls either by name, so each room can be compiled, tested and reasoned about without them.
#ifndef GOMPI_UP_H
#define GOMPI_UP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/abi.h"

#pragma GCC visibility push(hidden)

// A blocking collective as the application called it; handles and addresses as integers. A side is its arguments, of
// which nothing has been checked: no buffer (datatype/buffer.h).
struct gompi_slots_differ;
struct gompi_recipe;
struct gompi_collective {
	const char *name; // of the function
	int kind;         // core/coll.Kind
	int root;
	uintptr_t op, comm;
	struct gompi_side {
		uintptr_t buf;
		int64_t count;
		uintptr_t type;
		uintptr_t counts, displs; // arrays, one for each member, of int or, if wide, of MPI_Count and MPI_Aint
		uintptr_t types;          // an array of MPI_Datatype; then displacements are in bytes
	} send, recv;
	bool wide;
	int32_t tag; // to be started: of its messages
	bool here;   // to be started: the members meet in shared memory, so Go only says what is wrong with it
	// What gompi_hierarchy_run has found out; NULL: it was not asked. So many bytes, and whether another member
	// differs.
	const struct gompi_agreed {
		uint64_t bytes;
		const struct gompi_slots_differ *differ; // NULL: none
	} * agreed;
};

// What MPI_Type_get_contents and its large-count form (wide) store, where, and how much room there is.
struct gompi_contents {
	bool wide;
	int64_t integers_room, addresses_room, counts_room, types_room;
	int *integers;
	MPI_Aint *addresses;
	MPI_Count *counts;
	MPI_Datatype *types;
};

// MPI_Start, MPI_Cancel, and that nobody needs it any longer.
enum gompi_request_what { GOMPI_REQUEST_START, GOMPI_REQUEST_CANCEL, GOMPI_REQUEST_RELEASE };

// Filled in by capi/up.c before the first call of MPI. All of them may block for a short time and allocate; none is for
// a fast path.
struct gompi_up {
	// Raises an error on an object and returns what the call shall return; gompi_refuse in verdict.h is the way
	// there.
	int (*raise)(int class, const char *call, const char *text, int kind, uintptr_t object);
	// Stores what an error of a class was about that the application has raised on an object itself, which may have
	// gone, as text of less than MPI_MAX_ERROR_STRING bytes. Returns its length.
	int (*called_text)(int class, int kind, uintptr_t object, char *text);
	// Looks for processes of the node that have died; gompi_header()->broken counts them afterwards.
	void (*find_dead)(void);
	// Stores the name of the host of a process of the job, as text of less than size bytes.
	void (*host_of)(int peer, char *name, int size);
	// Where another rank's table of attached memory is mapped here, and where size bytes at an offset of the node's
	// memory are; NULL if they cannot be.
	void *(*attached_table)(uintptr_t win, int rank);
	void *(*map_attached)(uintptr_t win, int64_t offset, int64_t size);
	// Takes more memory for this process' own table, and stores how many bytes it has. 0 or an error class, which
	// text, of sizeof ((struct gompi_verdict *)0)->text bytes, tells.
	int (*grow_attached)(uintptr_t win, uint64_t *bytes, char *text);
	// Exchanges blocks of so many bytes among the members of a window that spans nodes, by rank. 0 or an error
	// class, which text, of sizeof ((struct gompi_verdict *)0)->text bytes, tells.
	int (*tell_members)(uintptr_t win, const void *mine, size_t bytes, void *all, char *text);
	// What is to be done with a request of an operation that Go carries out: 0 or an error class, which text, of
	// sizeof ((struct gompi_verdict *)0)->text bytes, tells.
	int (*request)(uintptr_t object, enum gompi_request_what what, char *text);
	// MPI_Barrier among members that share no memory. What the call returns.
	int (*barrier_by_messages)(uintptr_t comm);
	// Constructs a datatype from arguments of which nothing has been checked, and stores its handle. What the call
	// returns.
	int (*make_type)(const struct gompi_recipe *recipe, uintptr_t newtype);
	// A type that Go knows by this number has been freed.
	void (*forget_type)(uintptr_t number);
	// MPI_Type_get_contents of any type. What the call returns.
	int (*get_contents)(const struct gompi_contents *contents, uintptr_t datatype);
	// Stores the unnamed type of a combiner of Fortran's, with the precision and range that are asked for. What the
	// call returns.
	int (*create_f90)(const char *call, int combiner, int p, int r, MPI_Datatype *newtype);
	// How many basic elements the first so many bytes of copies of a datatype hold, and the bytes that so many of
	// them have. false: the bytes end inside an element; there are not so many elements, or 64 bits do not hold it.
	bool (*elements_in)(uintptr_t datatype, int64_t bytes, int64_t *elements);
	bool (*bytes_of)(uintptr_t datatype, int64_t elements, int64_t *bytes);
	// Does a collective from the beginning. What the call returns.
	int (*collective)(const struct gompi_collective *call);
	// Starts a collective, or makes a persistent request of one, and stores the request. What the call returns.
	int (*start_collective)(const struct gompi_collective *call, bool persistent, uintptr_t info,
				uintptr_t request);
	// MPI_Comm_idup, which Go knows by a number. This member is to take what member 0 tells: 0 or an error class.
	// It is over, with an error class and its text or 0, or the worst class of a member: returns the class that it
	// ends with, and stores its text.
	int (*idup_told)(uintptr_t number, const char *told);
	int (*idup_over)(uintptr_t number, const char *told, int failed, int worst, char *text);
	// A communicator that has been freed is not needed any longer by what was started on it.
	void (*board_left)(uintptr_t owner);
	// Shared memory for the members of a communicator on this node. take_block allocates zeroed memory and stores
	// its name; returns false if out of memory. open_block maps memory that a member has allocated; returns NULL
	// if it cannot be mapped. give_block releases memory that no member uses any longer.
	bool (*take_block)(uintptr_t owner, uint64_t bytes, uint64_t *name);
	void *(*open_block)(uintptr_t owner, uint64_t name, uint64_t bytes);
	void (*give_block)(uintptr_t owner, uint64_t name, uint64_t bytes);
	// The error class of that another member's call is not this one's, which text tells, of sizeof ((struct
	// gompi_verdict *)0)->text bytes.
	int (*explain_differ)(const struct gompi_slots_differ *differ, char *text);
	// Raises that another member's call is not this one's, and returns what the call shall return.
	int (*slots_differ)(uintptr_t comm, const char *call, const struct gompi_slots_differ *differ);
	// More memory of a communicator for slots, zeroed. Collective; NULL, at all members: there is none. Who the
	// owner is was said when the slots were opened.
	void *(*more_slots)(uintptr_t owner, uint64_t bytes);
	// Calls an operation of the application: an MPI_User_function or, if large, an MPI_User_function_c.
	void (*call_operation)(uintptr_t function, bool large, uintptr_t in, uintptr_t inout, int64_t count,
			       uintptr_t type);
	// MPI_Reduce_local from the beginning, with every check. What the call returns.
	int (*reduce_local)(uintptr_t in, uintptr_t inout, int64_t count, uintptr_t datatype, uintptr_t op);
	// inout = in op inout for the elements in so many bytes, by a reduction of Go's. 0 or an error class.
	int (*combine)(uintptr_t reduction, const void *in, void *inout, uint64_t bytes);
};
extern struct gompi_up gompi_up;

#pragma GCC visibility pop
#endif
