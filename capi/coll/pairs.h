// Collectives whose blocks have lengths that only who sends a block and who gets it know: MPI_Gatherv, MPI_Scatterv,
// MPI_Alltoallv, MPI_Alltoallw and those of neighborhoods. One operation of slots: who sends fills its slot with a
// table of what it has for whom, and with the blocks that fit; of the others the table has addresses, and who gets them
// reads them there. So each member decides by itself how its blocks travel, whatever the others have.
//
// A member whose blocks are read in its memory leaves the operation when all who read them have. If the system does
// not let one read, it asks for the block in pieces (struct gompi_slots_mail), which is served where others wait.
//
// The parts of a call: gompi_pairs_ready, gompi_pairs_begin, gompi_pairs_fill, then gompi_pairs_take for each block
// that is received, then gompi_pairs_leave.
#ifndef GOMPI_PAIRS_H
#define GOMPI_PAIRS_H

#include "coll/protocol.h"

#pragma GCC visibility push(hidden)

// One member's part of an operation under way. The call stays as it is meanwhile.
struct gompi_pairs {
	struct gompi_slots *t;
	struct gompi_slots_call *c;
	uint64_t number;        // of the operation
	int entries;            // of the table
	enum gompi_place place; // of the slot: its head or its body, or with
	bool bodies;            // all bodies together
	// What this member has for itself. NULL: it is in the slot, or there is none.
	const struct gompi_pair_block *own;
	char *packed; // blocks that others read, one behind another, NULL: none
	bool lent;    // others read what must stay as it is until they have
	bool borrows; // this member has read what others wait for
};

// Begins the next operation as one that fills the slot, once there is room. MPI_ERR_PROC_ABORTED.
int gompi_pairs_begin(struct gompi_pairs *p);

// Fills and publishes the slot, in the operation that has been begun.
void gompi_pairs_fill(struct gompi_pairs *p);

// Prepares p for a call; nothing is seen of it. MPI_ERR_NO_MEM.
int gompi_pairs_ready(struct gompi_pairs *p, struct gompi_slots *t, struct gompi_slots_call *c);

// Whether the slot is filled that block i of what is received comes from.
bool gompi_pairs_arrived(const struct gompi_pairs *p, int i);

// Gets block i, which has arrived. Blocks of another length than expected are noted in the call, and not copied.
// MPI_ERR_PROC_ABORTED, MPI_ERR_INTERN.
int gompi_pairs_take(struct gompi_pairs *p, int i);

// Whether all who read blocks in the memory of this member have finished; until then it serves them.
bool gompi_pairs_left(struct gompi_pairs *p);

// Ends the operation once all blocks have been taken: finishes it, waits until the others have, gives memory back.
int gompi_pairs_leave(struct gompi_pairs *p);

// All of it.
int gompi_slots_pairs(struct gompi_slots *t, struct gompi_slots_call *c);

#pragma GCC visibility pop
#endif
