// The agent path: operations on memory that is not mapped at the origin.
//
// Each process has a ring of fixed cells in the control segment. An origin takes a cell, writes one operation with up
// to GOMPI_AGENT_INLINE bytes of data, and publishes it; whichever thread of the target serves the ring (one that waits
// in a blocking call, or the agent) applies the operations in the order of the ring, with the same functions as the
// direct path, and then tells the origin the position up to which it has. Puts and gets of few or long pieces move
// their data by process_vm_writev and readv where that is allowed and the target is not polling anyway.
#ifndef GOMPI_AGENT_H
#define GOMPI_AGENT_H

#include "rma.h"

enum { GOMPI_AGENT_CELL = 1024, GOMPI_AGENT_CELLS = 62 };

enum gompi_agent_kind {
	AGENT_PUT = 1,
	AGENT_PUT_PULL,
	AGENT_GET,
	AGENT_GET_PULL,
	AGENT_ACCUMULATE, // from here on elements are updated
	AGENT_ACCUMULATE_PULL,
	AGENT_FETCH,
	AGENT_FETCH_PULL,
	AGENT_COMPARE_AND_SWAP,
	AGENT_IN_ORDER = 0x40, // added: pieces that may overlap
	AGENT_LAYOUT = 0x80,   // added: the data at the target is in pieces
};

// The header and 16 bytes of data share a cache line, so that a small operation moves one line.
struct gompi_agent_cell {
	_Alignas(GOMPI_LINE) gompi_a64 turn; // agent.c
	uint32_t window;                     // handle
	int32_t origin;                      // number of the origin's process
	uint8_t kind, wants_reply;
	uint16_t op, type; // predefined handles
	uint16_t status;   // in the reply: error class
	uint64_t offset;   // in the target's window, bytes
	uint64_t count;    // elements of type
	uint64_t bytes;    // of data
	char data[]; // of the _PULL forms: struct gompi_agent_pull; with AGENT_LAYOUT: struct gompi_agent_pieces; then
		     // the origin's data
};

// Where the buffers of an operation are that is too large for a cell: addresses in the origin's process, 0: none.
struct gompi_agent_pull {
	uint64_t origin, result;
};

// Where the data lies at the target: words of agent_layout.h.
struct gompi_agent_pieces {
	int64_t n, word[];
};
#define GOMPI_AGENT_INLINE (GOMPI_AGENT_CELL - offsetof(struct gompi_agent_cell, data))

struct gompi_agent_ring {
	_Alignas(GOMPI_LINE) gompi_a64 tail; // positions taken by origins
	_Alignas(GOMPI_LINE) gompi_a64 head; // positions served; written under the target's serving flag
	struct gompi_waitword space;         // origins that wait for a free cell or a reply
	_Alignas(1024) char cells[];
};

struct gompi_type;

// Sends the accumulate-type call r on count copies of type, whose elements are taken as those of a predefined one of
// their size, at offset in the target's window. origin and result are arrays of elements or NULL. Results are there
// when it returns; origin may be used again in any case. 0 or an error class.
int gompi_agent_accumulate(struct gompi_win *w, const struct gompi_rma *r, MPI_Datatype element, uint64_t offset,
			   int64_t count, const struct gompi_type *type, const char *origin, char *result);

// Moves the bytes of the put or get r between local and count copies of type at offset in the target's window. A get is
// there when it returns; local may be used again in any case. 0 or an error class.
int gompi_agent_move(struct gompi_win *w, const struct gompi_rma *r, uint64_t offset, int64_t count,
		     const struct gompi_type *type, char *local, int64_t bytes);

// Small operations are sent without waking the target: whoever waits there sees them, and these calls ring for the
// rest.
//
// Waits until the target has applied everything that this process sent to it in w; for the function called call. 0 or
// an error class.
int gompi_agent_wait(struct gompi_win *w, int rank, const char *call);
int gompi_agent_wait_all(struct gompi_win *w, const char *call);

static inline int gompi_agent_flush(struct gompi_win *w, int rank, const char *call) {
	return __builtin_expect(atomic_load_explicit(&w->flush_more, memory_order_relaxed) != 0, 0)
		       ? gompi_agent_wait(w, rank, call)
		       : MPI_SUCCESS;
}

static inline int gompi_agent_flush_all(struct gompi_win *w, const char *call) {
	return __builtin_expect(atomic_load_explicit(&w->flush_more, memory_order_relaxed) != 0, 0)
		       ? gompi_agent_wait_all(w, call)
		       : MPI_SUCCESS;
}

// Applies what lies in this process' ring, unless another thread is at it. Whether it found anything.
bool gompi_agent_serve(void);

#endif
