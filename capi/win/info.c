// MPI_Win_set_info and MPI_Win_get_info (MPI-5.0 12.2.7). The lock of info objects guards a window's hints.
#include <stdio.h>
#include <stdlib.h>

#include "base/go_callbacks.h"
#include "info/values.h"
#include "session/session.h"
#include "win/win.h"
#include "win/z_calls.h"

// Combines the hints of all members, an array indexed by rank, into the hints in force. Returns 0. If a member has
// reported an error, returns the error's class and stores the member's rank in *bad_rank.
static int combine_hints(const struct gompi_hints_message *hints, int n, struct gompi_common_hints *common,
			 int *bad_rank) {
	*common = (struct gompi_common_hints){.promises = UINT64_MAX};
	for (int i = 0; i < n; i++) {
		if (hints[i].class != MPI_SUCCESS) {
			*bad_rank = i;
			return (int)hints[i].class;
		}
		common->promises &= hints[i].common.promises;
		// subtracting 1 turns 0 (none) into the largest value
		if (hints[i].common.granularity - 1 < common->granularity - 1)
			common->granularity = hints[i].common.granularity;
	}
	return MPI_SUCCESS;
}

// Exchanges hints with the other members, and combines them. Returns 0 or the class of the error status. If this
// member's own arguments are wrong, v already holds the error.
static int exchange_hints(struct gompi_win *w, const char *call, const struct gompi_hints_message *mine,
			  struct gompi_common_hints *common, struct gompi_error_status *v) {
	struct gompi_wait_desc waiting = {.call = call, .peer = -1, .object = w->handle};
	struct gompi_hints_message *all = w->exchanged_hints, message = *mine;
	int class, bad_rank = 0, remote_class = MPI_SUCCESS;
	bool one_node = w->remote == NULL;
	if (one_node) {
		all[w->local_rank] = *mine;
		class = gompi_win_node_barrier(w, &waiting);
	} else {
		all = malloc((size_t)w->n * sizeof *all);
		if (all == NULL)
			message.class = MPI_ERR_NO_MEM; // the other members learn of the error from the message
		class = gompi_go_callbacks.exchange_with_members(w->handle, &message, sizeof message, all, v->text);
		if (all == NULL)
			return gompi_set_error(v, MPI_ERR_NO_MEM, "out of memory for the hints of %d processes",
					       (int)w->n);
	}
	if (class == MPI_SUCCESS)
		remote_class = combine_hints(all, (int)w->n, common, &bad_rank);
	if (!one_node)
		free(all);
	else if (class == MPI_SUCCESS)
		// no member may store new hints before all members have read these hints
		class = gompi_win_node_barrier(w, &waiting);
	if (class != MPI_SUCCESS && one_node)
		gompi_describe_op_error(v, false, class);
	if (class != MPI_SUCCESS)
		return v->class = class;
	return mine->class != MPI_SUCCESS || remote_class == MPI_SUCCESS
		       ? (int)mine->class
		       : gompi_set_error(v, remote_class,
					 "the arguments of rank %d are invalid; its error message states the reason",
					 bad_rank);
}

int gompi_win_set_info(MPI_Win win, MPI_Info info) {
	static const char call[] = "MPI_Win_set_info";
	struct gompi_win *w = gompi_win_get(win);
	struct gompi_error_status v;
	if (w == NULL)
		return gompi_not_a_window(win, call);
	v.text[0] = 0;
	struct gompi_hints *h = &w->hints, n = *h;
	n.kinds = NULL;
	struct gompi_hints_message mine = {.class = gompi_hints_apply(&n, info, &v), .common = n.common};
	int class = exchange_hints(w, call, &mine, &n.common, &v);
	if (class != MPI_SUCCESS) {
		free(n.kinds);
		return gompi_win_raise(win, call, &v);
	}
	gompi_info_lock();
	h->common = n.common; // the other hints concern the allocation of the memory, which exists already
	h->common.promises &= w->allowed_promises;
	if (n.kinds != NULL) {
		free(h->kinds);
		h->kinds = n.kinds;
	}
	gompi_info_unlock();
	gompi_store_seq_cst(&w->granularity, h->common.granularity);
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Win_set_info, gompi_win_set_info);

static const char *bool_text(bool set) { return set ? "true" : "false"; }

// Adds accumulate_ordering: the orderings that must be kept.
static void add_order(struct gompi_info *x, uint64_t promises) {
	char text[] = "none\0rar,raw,war,waw", *to = text;
	for (int i = 0; i < 4; i++)
		if (!(promises & (uint64_t)PROMISE_NOT_RAR << i)) {
			to = (char *)memcpy(to, &"rarrawwarwaw"[3 * i], 3) + 3;
			*to++ = ',';
		}
	gompi_info_append(x, "accumulate_ordering", sizeof "accumulate_ordering" - 1, text,
			  to == text ? 4 : (size_t)(to - text) - 1);
}

static void add_number(struct gompi_info *x, const char *key, uint64_t number) {
	char text[24];
	snprintf(text, sizeof text, "%llu", (unsigned long long)number);
	gompi_info_add(x, key, text);
}

int gompi_win_get_info(MPI_Win win, MPI_Info *info_used) {
	static const char call[] = "MPI_Win_get_info", *const in_place[] = {"false", "true", "require"};
	struct gompi_error_status v;
	struct gompi_win *w = gompi_win_get(win);
	if (w == NULL)
		return gompi_not_a_window(win, call);
	if (info_used == NULL)
		return gompi_null_argument_error(call, "info_used", GOMPI_ON_WIN, (uintptr_t)win);
	struct gompi_info *x = gompi_info_begin();
	const struct gompi_hints *h = &w->hints;
	uint64_t all = h->common.promises;
	gompi_info_add(x, "no_locks", bool_text(all & PROMISE_NO_LOCKS));
	add_order(x, all);
	gompi_info_add(x, "accumulate_ops", all & PROMISE_SAME_OP ? "same_op" : "same_op_no_op");
	add_number(x, "mpi_accumulate_granularity", h->common.granularity);
	gompi_info_add(x, "same_size", bool_text(all & PROMISE_SAME_SIZE));
	gompi_info_add(x, "same_disp_unit", bool_text(all & PROMISE_SAME_DISP_UNIT));
	gompi_info_add(x, "alloc_shared_noncontig", bool_text(all & PROMISE_NONCONTIGUOUS));
	add_number(x, "mpi_minimum_memory_alignment", (uint64_t)h->alignment);
	gompi_info_add(x, "gompirma_huge_pages", bool_text(h->huge_pages));
	gompi_info_add(x, "gompirma_share_in_place", in_place[h->in_place]);
	gompi_memory_kinds_add(x, h->kinds, gompi_session_kinds(w->members.session));
	if (h->shared_in_place != NULL)
		gompi_info_add(x, "gompirma_shared_in_place", h->shared_in_place);
	if (h->kinds != NULL)
		gompi_info_add(x, GOMPI_KEY_ASSERT_KINDS, h->kinds);
	int class = gompi_info_finish(x, info_used, &v);
	return class == MPI_SUCCESS ? class : gompi_win_raise(win, call, &v);
}
GOMPI_ENTRY(MPI_Win_get_info, gompi_win_get_info);
