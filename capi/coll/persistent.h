// Boards of persistent collectives. Members may start these in different orders (MPI-5.0 6.13), so a number that counts
// starts does not name one of them. Members initialize them in one order: each persistent collective has a number that
// counts initializations on the communicator, and a board of its own, on which numbers count its rounds.
//
// The memory of these boards is listed in a table behind the communicator's board. The first member that initializes
// a collective chooses a free entry for it and publishes the choice; the others find it. No member waits for another.
// An entry is free again when all members have freed the request. If no entry is free, the collective goes by messages,
// at all members.
#ifndef GOMPI_PERSISTENT_H
#define GOMPI_PERSISTENT_H

#include "coll/board.h"

enum { GOMPI_PERSISTENT_MOST = 64 }; // entries

struct gompi_persistent_entry {
	gompi_a64 number; // of the collective that has or had the entry; 0 if none had it
	gompi_a64 freed;  // number << 8, plus the number of members that have freed the request
	gompi_a64 block;  // name of the memory (gompi_up.take_block); 0 if it has none
};

struct gompi_persistent_table {
	// number << 8 of the last collective that a member has chosen an entry for, plus the index of the entry + 1;
	// plus 0 if no entry was free.
	_Alignas(GOMPI_LINE) gompi_a64 chosen;
	struct gompi_persistent_entry entry[GOMPI_PERSISTENT_MOST];
};

#pragma GCC visibility push(hidden)

// Returns this member's view of the board of the communicator's persistent collective with this number. The first call
// at any member allocates the board's memory, unless its entry has some. Returns NULL if there is no board. *messages
// is then true if the collective goes by messages at all members, and false if this member is out of memory.
struct gompi_board *gompi_persistent_open(struct gompi_board *parent, uint64_t number, bool *messages);
// Closes the view of an inactive request. The last member that does so resets the memory to its unused state.
void gompi_persistent_close(struct gompi_board *b);
// Releases all memory of boards that the table lists and clears the table. No member may use it any longer.
void gompi_persistent_clean(struct gompi_board *parent);

#pragma GCC visibility pop
#endif
