// Hot windows: ordinary memory of a member that the others reach so often, by messages and system calls, that sharing
// it in place pays (core/rma/hot.go decides). The words are in the member's part of the window's control memory.
//
//	origin   adds what its operations cost to `used`; who makes it reach `hot_at` sends MESSAGE_HOT (way/node.c)
//	member   remembers that (gompi_hot_told). Its one thread shares the memory when it comes to a call that waits or
//	         ends an epoch (gompi_hot_look): it keeps origins from writing by system calls (gompi_hot_begin), stops
//	         its agent, moves the memory, and says in `place` that and in `heap` where it is now (gompi_hot_end)
//	origin   sees that in its next operation that does not find the memory mapped here, and maps it (rma/follow.h).
//	         Then its fast paths find it
//
// So nothing is written to the memory while it moves: messages wait in the ring, and system calls that write are
// counted in `writers` while they run, or not made. Afterwards the agent path and those who address the memory meet in
// the same pages, with the same locks and instructions.
//
// What an origin has sent must be done before an operation of its own passes it by the direct way. So it waits for that
// before it maps the memory; and one of its threads that sends a message meanwhile looks at `place` afterwards and
// waits too. Either the one sees the message, or the other sees `place`.
#ifndef GOMPI_HOT_H
#define GOMPI_HOT_H

#include "win/win.h"

#pragma GCC visibility push(hidden)

// A member's `place`.
enum {
	GOMPI_PRIVATE,
	GOMPI_MOVES,       // private still; nobody may write to it by system calls
	GOMPI_WHOLE_PAGES, // shared in place: core/rma's wholePagesShared
	GOMPI_ALL_PAGES,   // and its allShared
};

static inline bool gompi_hot_shared(struct gompi_win_member *m) {
	return m->may_move && gompi_load_total(&m->place) >= GOMPI_WHOLE_PAGES;
}

// Whether a system call may write to m's memory now; then gompi_hot_written must follow.
static inline bool gompi_hot_write(struct gompi_win_member *m) {
	if (!m->may_move)
		return true;
	gompi_add_total(&m->writers, 1); // pairs with gompi_hot_begin: it sees this, or this thread sees what it says
	if (__builtin_expect(gompi_load_total(&m->place) != GOMPI_MOVES, 1))
		return true;
	gompi_sub_total(&m->writers, 1);
	return false;
}

static inline void gompi_hot_written(struct gompi_win_member *m) {
	if (m->may_move)
		gompi_sub_total(&m->writers, 1); // a release: what has been written is before it
}

// An operation of so many bytes has come to m's memory by a message or a system call. Whether this thread must tell m.
// Looked at once in a while, for all that this thread has done since: a prime number, so that no window is missed by a
// program that uses several in turn.
static inline bool gompi_hot_used(struct gompi_win_member *m, int64_t bytes) {
	enum { LOOK = 61, SHIFT = 14 }; // 16 KiB are as much as an operation
	static _Thread_local uint32_t done __attribute__((tls_model("initial-exec")));
	if (!m->may_move)
		return false;
	uint64_t cost = 1 + ((uint64_t)bytes >> SHIFT);
	done += cost < 1 << 20 ? (uint32_t)cost : 1 << 20;
	if (__builtin_expect(done < LOOK, 1))
		return false;
	uint32_t used = gompi_add(&m->used, done) + done, at = gompi_load(&m->hot_at);
	done = 0;
	return at != 0 && used >= at && gompi_change_once(&m->hot_at, &at, 0);
}

// w's memory in this process is hot, somebody says: its windows' calls and waits will look.
void gompi_hot_told(struct gompi_win *w);
// Whether somebody has said so since the last time that this was asked.
bool gompi_hot_take(uintptr_t handle);

// Keeps others from writing to w's memory in this process by system calls. false: not now, some are at it.
bool gompi_hot_begin(uintptr_t handle);
// Ends that: what of the memory is shared, and where the window begins in the node's memfd; or GOMPI_PRIVATE, and how
// much must come until it is tried again, 0: it is not.
void gompi_hot_end(uintptr_t handle, uint32_t place, int64_t heap, uint32_t again);

#pragma GCC visibility pop
#endif
