// What the rooms may ask of whoever stands above them: of Go, which decides and remembers, and of the C beside it.
// Nothing below capi calls either by name, so each room can be compiled, tested and reasoned about without them.
#ifndef GOMPI_UP_H
#define GOMPI_UP_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// Filled in by capi/up.c before the first call of MPI. All of them may block for a short time and allocate; none is for
// a fast path.
struct gompi_up {
	// Raises an error on an object and returns what the call shall return; gompi_refuse in verdict.h is the way
	// there.
	int (*raise)(int class, const char *call, const char *text, int kind, uintptr_t object);
	// Lets messages move. Whether there was something to do.
	bool (*progress_messages)(void);
	// Looks for processes of the node that have died; gompi_header()->broken counts them afterwards.
	void (*find_dead)(void);
	// Lets the application's signal handlers run for what has arrived meanwhile, if this thread is in Go.
	void (*take_signals)(void);
	// Stores the ranks in a window of the members of a group, at most so many, and returns their number; minus an
	// error class: MPI_ERR_GROUP, MPI_ERR_RANK.
	int (*group_ranks)(uintptr_t win, uintptr_t group, int *ranks, int most);
	// Where rank's table of attached memory is mapped here, and where size bytes at an offset of the node's memory
	// are; NULL if they cannot be.
	void *(*attached_table)(uintptr_t win, int rank);
	void *(*map_attached)(uintptr_t win, int64_t offset, int64_t size);
	// Maps a member's memory that has become shared in place, whole pages or all, the window beginning at an offset
	// of the node's memory. Whether it could.
	bool (*follow)(uintptr_t win, int rank, int64_t offset, uint32_t place);
	// Sees to the windows of which gompi_hot_told has been called.
	void (*share_hot)(void);
	// MPI_Barrier among members that share no memory. What the call returns.
	int (*barrier_by_messages)(uintptr_t comm);
	// Makes the facts of a datatype known to C (datatype/facts.h). false: there is no such datatype, or no memory.
	bool (*tell_facts)(uintptr_t datatype);
	// How many basic elements the first so many bytes of copies of a datatype hold, and the bytes that so many of
	// them have. false: the bytes end inside an element; there are not so many elements, or 64 bits do not hold it.
	bool (*elements_in)(uintptr_t datatype, int64_t bytes, int64_t *elements);
	bool (*bytes_of)(uintptr_t datatype, int64_t elements, int64_t *bytes);
};
extern struct gompi_up gompi_up;

#pragma GCC visibility pop
#endif
