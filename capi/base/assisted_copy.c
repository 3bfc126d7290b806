// The initiator requests help by its index in the cell of the helper (copy_offer), and copies the first piece. The
// helper takes the request away. At the end the initiator withdraws the request; if it has been taken, the initiator
// waits until the helper has left.
#define _GNU_SOURCE
#include "base/assisted_copy.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/uio.h>

#include "base/minmax.h"

// Maximum bytes of a piece. Data of up to 512 KiB has two pieces, one for each process. More data has more pieces, so
// that the faster process copies more of them. If the wait of the helper ends meanwhile, the helper first finishes
// its current piece.
enum { MAX_PIECE = 256 << 10 };

// States of a helper, in the cell of the initiator. HELPER_REFUSED: the system permits no copies in its direction.
enum { HELPER_ACTIVE, HELPER_FINISHED, HELPER_FAILED, HELPER_REFUSED };

// Copies bytes between the memory `local` of this process and `remote` of the process with this pid. Returns true if
// all bytes have been copied.
static bool copy(int pid, uint64_t local, uint64_t remote, uint64_t bytes, bool write) {
	while (bytes > 0) {
		struct iovec here = {(void *)(uintptr_t)local, bytes}, there = {(void *)(uintptr_t)remote, bytes};
		ssize_t n = write ? process_vm_writev(pid, &here, 1, &there, 1, 0)
				  : process_vm_readv(pid, &here, 1, &there, 1, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		local += (uint64_t)n;
		remote += (uint64_t)n;
		bytes -= (uint64_t)n;
	}
	return true;
}

// Returns the size of the pieces of a transfer. The last piece may be shorter.
static inline uint64_t piece_bytes(uint64_t bytes) {
	return bytes <= 2 * MAX_PIECE ? (bytes + 1) / 2 : gompi_min_u64(bytes / 4, MAX_PIECE);
}

// Copies piece i of a transfer, counted from its end if from_end is true.
static bool copy_piece(int pid, uint64_t local, uint64_t remote, uint64_t bytes, uint64_t i, bool from_end,
		       bool write) {
	const uint64_t piece = piece_bytes(bytes), from = piece * (from_end ? (bytes - 1) / piece - i : i);
	return copy(pid, local + from, remote + from, gompi_min_u64(piece, bytes - from), write);
}

// Claims a piece of a transfer. Returns false if all pieces have been claimed.
static inline bool claim_piece(struct gompi_shared_copy *c, uint64_t bytes) {
	return gompi_add(&c->claimed_pieces, 1) * piece_bytes(bytes) < bytes;
}

// Waits until the helper has left the copy. Returns false if a piece failed, or if the helper has ended.
static bool await_helper(struct gompi_shared_copy *c, int pid) {
	enum { POLLS_BEFORE_YIELD = 1000, POLLS_PER_CHECK = 4096 };
	for (uint32_t i = 1; gompi_load_acquire(&c->helper_state) == HELPER_ACTIVE; i++) {
		if (i < POLLS_BEFORE_YIELD)
			gompi_pause();
		else
			sched_yield();
		if (i % POLLS_PER_CHECK == 0 && kill(pid, 0) != 0 && errno == ESRCH)
			return false;
	}
	return gompi_load(&c->helper_state) == HELPER_FINISHED;
}

bool gompi_assisted_copy(int other, uint64_t address, void *local, uint64_t bytes, bool write, bool other_waits) {
	static gompi_a32 is_used;
	// Processes in other pid or user namespaces may be able to copy in one direction only.
	static gompi_a32 is_refused;
	struct gompi_cell *me = gompi_my_cell(), *helper = gompi_cell(other);
	uint32_t unused = 0, none = 0;
	const uint32_t offer = (uint32_t)gompi_node.local_index + 1;
	if (bytes < GOMPI_ASSISTED_COPY_BYTES || gompi_node.policy.is_oversubscribed || helper == me ||
	    !(other_waits || gompi_load(&helper->poller_count) > 0) || gompi_load(&me->copy_offer) != 0 ||
	    gompi_load(&is_refused) != 0 || !gompi_cas_strong(&is_used, &unused, 1))
		return false;
	struct gompi_shared_copy *c = &me->shared_copy;
	gompi_store(&c->claimed_pieces, 1); // the first one is for the initiator
	gompi_store(&c->helper_state, HELPER_ACTIVE);
	gompi_store(&c->initiator_address, (uint64_t)(uintptr_t)local);
	gompi_store(&c->helper_address, address);
	gompi_store(&c->initiator_pid, gompi_load(&me->pid));
	gompi_store(&c->bytes, bytes);
	gompi_store(&c->writes, write);
	bool copied = false;
	const int pid = gompi_load(&helper->pid);
	if (gompi_cas_strong(&helper->copy_offer, &none, offer)) { // a release: pairs with the swap in gompi_assist
		uint64_t done = 0;
		do
			copied = copy_piece(pid, (uint64_t)(uintptr_t)local, address, bytes, done++, false, write);
		while (copied && claim_piece(c, bytes));
		uint32_t mine = offer;
		if (!gompi_cas_strong(&helper->copy_offer, &mine, 0))
			copied = await_helper(c, pid) && copied;
		if (gompi_load(&c->helper_state) == HELPER_REFUSED)
			gompi_store(&is_refused, 1);
	}
	gompi_store_release(&is_used, 0);
	return copied;
}

// Leaves a copy. The initiator reads the state, which is one of the values HELPER_.
static void end_assistance(struct gompi_assistance *a, uint32_t state) {
	gompi_store_release(&gompi_cell(a->initiator - 1)->shared_copy.helper_state, state);
	a->initiator = 0;
}

bool gompi_assist(struct gompi_assistance *a) {
	if (a->initiator == 0) {
		a->initiator = (int)gompi_swap_seq_cst(&gompi_my_cell()->copy_offer, 0);
		a->pieces = 0;
	}
	if (a->initiator == 0)
		return false;
	struct gompi_shared_copy *c = &gompi_cell(a->initiator - 1)->shared_copy;
	const uint64_t bytes = gompi_load(&c->bytes);
	// The initiator's write is this process' read. If the initiator has died, its pid does not exist any more, even
	// if another process has its cell.
	bool claimed = claim_piece(c, bytes),
	     copied = claimed && copy_piece(gompi_load(&c->initiator_pid), gompi_load(&c->helper_address),
					    gompi_load(&c->initiator_address), bytes, a->pieces++, true,
					    gompi_load(&c->writes) == 0);
	if (claimed && !copied)
		end_assistance(a, errno == EPERM ? HELPER_REFUSED : HELPER_FAILED);
	else if (!claimed || gompi_load(&c->claimed_pieces) * piece_bytes(bytes) >= bytes)
		end_assistance(a, HELPER_FINISHED);
	return copied;
}

void gompi_end_assistance(struct gompi_assistance *a) {
	if (a->initiator != 0)
		end_assistance(a, HELPER_FINISHED);
}
