// Shared memory areas of persistent collectives. Members may start these in different orders (MPI-5.0 6.13), so a
// number that counts starts does not name one of them. Members initialize them in one order: each persistent collective
// has a number that counts initializations on the communicator, and an area of its own, in which numbers count its
// rounds.
//
// The memory of these areas is listed in a table that follows the communicator's area. The first member that
// initializes a collective chooses a free entry for it and publishes the choice; the others find it. No member waits
// for another. An entry is free again when all members have freed the request. If no entry is free, all members run the
// collective with messages.
#ifndef GOMPI_NBC_PERSISTENT_H
#define GOMPI_NBC_PERSISTENT_H

#include "coll/nbc.h"

enum { GOMPI_NBC_MAX_PERSISTENT = 64 }; // entries

struct gompi_nbc_entry {
	gompi_a64 number;      // of the collective that has or had the entry; 0 if none had it
	gompi_a64 freed_count; // number << 8, plus the number of members that have freed the request
	gompi_a64 block_name;  // name of the memory (gompi_go_callbacks.alloc_block); 0 if it has none
};

struct gompi_nbc_table {
	// number << 8 of the last collective that a member has chosen an entry for, plus the index of the entry + 1;
	// plus 0 if no entry was free.
	_Alignas(GOMPI_CACHE_LINE) gompi_a64 last_choice;
	struct gompi_nbc_entry entry[GOMPI_NBC_MAX_PERSISTENT];
};

#pragma GCC visibility push(hidden)

// Returns this member's view of the area of the communicator's persistent collective with this number. The first call
// at any member allocates the area's memory, unless its entry has some. Returns NULL if there is no area. *use_messages
// is then true if all members run the collective with messages, and false if this member is out of memory.
struct gompi_nbc *gompi_nbc_persistent_open(struct gompi_nbc *parent, uint64_t number, bool *use_messages);
// Closes the view of an inactive request. The last member that closes its view resets the memory to its unused state.
void gompi_nbc_persistent_close(struct gompi_nbc *b);
// Releases all memory that the table lists and clears the table. No member may use it any longer.
void gompi_nbc_persistent_reset(struct gompi_nbc *parent);

#pragma GCC visibility pop
#endif
