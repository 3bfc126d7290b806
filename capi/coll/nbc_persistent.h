// Shared memory areas of persistent collectives. Members may start persistent collectives in different orders (MPI-5.0
// 6.13), so a count of starts does not identify a collective. But all members initialize persistent collectives in the
// same order. So the number of a persistent collective is its position in the order of the communicator's
// initializations. Each persistent collective has an area of its own, in which numbers count its rounds.
//
// A table after the end of the communicator's area lists the memory of these areas. The first member that initializes a
// collective chooses a free entry of the table for it and publishes the choice, which the other members find. No member
// waits for another member. An entry is free again when all members have freed the request. If no entry is free, all
// members run the collective with messages.
#ifndef GOMPI_NBC_PERSISTENT_H
#define GOMPI_NBC_PERSISTENT_H

#include "coll/nbc.h"

enum { GOMPI_NBC_MAX_PERSISTENT = 64 }; // number of entries of the table

struct gompi_nbc_entry {
	gompi_a64 number;      // number of the collective that uses, or last used, the entry; or 0
	gompi_a64 freed_count; // `number` << 8, plus how many members have freed the request
	gompi_a64 block_name;  // name of the entry's memory (gompi_go_callbacks.alloc_block); 0 if it has none
};

struct gompi_nbc_table {
	// The last collective for which a member has chosen an entry: its number << 8, plus the index of the entry + 1,
	// or plus 0 if no entry was free.
	_Alignas(GOMPI_CACHE_LINE) gompi_a64 last_choice;
	struct gompi_nbc_entry entry[GOMPI_NBC_MAX_PERSISTENT];
};

#pragma GCC visibility push(hidden)

// Creates this member's view of the area of the communicator's persistent collective with this number. The first member
// that opens the area allocates its memory, unless the table entry already has memory. On failure returns NULL.
// *use_messages is then true if all members run the collective with messages, and false if this member is out of
// memory.
struct gompi_nbc *gompi_nbc_persistent_open(struct gompi_nbc *parent, uint64_t number, bool *use_messages);
// Closes the view of an inactive request. The last member that closes its view resets the memory to its unused state.
void gompi_nbc_persistent_close(struct gompi_nbc *b);
// Releases all memory that the table lists and clears the table. The caller ensures that no member uses this memory any
// longer.
void gompi_nbc_persistent_reset(struct gompi_nbc *parent);

#pragma GCC visibility pop
#endif
