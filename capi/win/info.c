// MPI_Win_set_info and MPI_Win_get_info (MPI-5.0 12.2.7). The lock of info objects guards a window's hints.
#include <stdio.h>
#include <stdlib.h>

#include "base/up.h"
#include "info/values.h"
#include "win/win.h"
#include "win/z_calls.h"

// Combines the hints of all members, which are by rank, to those in force. Returns 0, or the class of a member's error
// and its rank in *who.
static int put_together(const struct gompi_told_hints *told, int n, struct gompi_common_hints *common, int *who) {
	*common = (struct gompi_common_hints){.promises = UINT64_MAX};
	for (int i = 0; i < n; i++) {
		if (told[i].class != MPI_SUCCESS) {
			*who = i;
			return (int)told[i].class;
		}
		common->promises &= told[i].common.promises;
		// subtracting 1 turns 0 (none) into the largest value
		if (told[i].common.granularity - 1 < common->granularity - 1)
			common->granularity = told[i].common.granularity;
	}
	return MPI_SUCCESS;
}

// Exchanges hints with the other members, and combines them. Returns 0 or the class of the error status. If this
// member's own arguments are wrong, v already holds the error.
static int tell_hints(struct gompi_win *w, const char *call, const struct gompi_told_hints *mine,
		      struct gompi_common_hints *common, struct gompi_verdict *v) {
	struct gompi_waiting what = {.call = call, .peer = -1, .object = w->handle};
	struct gompi_told_hints *all = w->told, told = *mine;
	int class, who = 0, wrong = MPI_SUCCESS;
	bool here = w->remote == NULL;
	if (here) {
		all[w->local_me] = *mine;
		class = gompi_win_node_barrier(w, &what);
	} else {
		all = malloc((size_t)w->n * sizeof *all);
		if (all == NULL)
			told.class = MPI_ERR_NO_MEM; // the other members must learn of it
		class = gompi_up.tell_members(w->handle, &told, sizeof told, all, v->text);
		if (all == NULL)
			return gompi_error(v, MPI_ERR_NO_MEM, "out of memory for the hints of %d processes", (int)w->n);
	}
	if (class == MPI_SUCCESS)
		wrong = put_together(all, (int)w->n, common, &who);
	if (!here)
		free(all);
	else if (class == MPI_SUCCESS)
		class = gompi_win_node_barrier(w, &what); // no member may store new hints before all have read these
	if (class != MPI_SUCCESS && here)
		gompi_operation_verdict(v, false, class);
	if (class != MPI_SUCCESS)
		return v->class = class;
	return mine->class != MPI_SUCCESS || wrong == MPI_SUCCESS
		       ? (int)mine->class
		       : gompi_error(v, wrong, "rank %d has passed invalid arguments", who);
}

int gompi_win_set_info(MPI_Win win, MPI_Info info) {
	static const char call[] = "MPI_Win_set_info";
	struct gompi_win *w = gompi_win_get(win);
	struct gompi_verdict v;
	if (w == NULL)
		return gompi_not_a_window(win, call);
	v.text[0] = 0;
	struct gompi_hints *h = &w->hints, n = *h;
	n.kinds = NULL;
	struct gompi_told_hints mine = {.class = gompi_hints_take(&n, info, &v), .common = n.common};
	int class = tell_hints(w, call, &mine, &n.common, &v);
	if (class != MPI_SUCCESS) {
		free(n.kinds);
		return gompi_win_refuse(win, call, &v);
	}
	gompi_info_take();
	h->common = n.common; // the other hints concern existing memory
	h->common.promises &= w->may;
	if (n.kinds != NULL) {
		free(h->kinds);
		h->kinds = n.kinds;
	}
	gompi_info_give();
	gompi_store_total(&w->granularity, h->common.granularity);
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Win_set_info, gompi_win_set_info);

static const char *true_if(bool set) { return set ? "true" : "false"; }

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
	struct gompi_verdict v;
	struct gompi_win *w = gompi_win_get(win);
	if (w == NULL)
		return gompi_not_a_window(win, call);
	if (info_used == NULL)
		return gompi_no_place(call, GOMPI_ON_WIN, (uintptr_t)win);
	struct gompi_info *x = gompi_info_begin();
	const struct gompi_hints *h = &w->hints;
	uint64_t all = h->common.promises;
	gompi_info_add(x, "no_locks", true_if(all & PROMISE_NO_LOCKS));
	add_order(x, all);
	gompi_info_add(x, "accumulate_ops", all & PROMISE_SAME_OP ? "same_op" : "same_op_no_op");
	add_number(x, "mpi_accumulate_granularity", h->common.granularity);
	gompi_info_add(x, "same_size", true_if(all & PROMISE_SAME_SIZE));
	gompi_info_add(x, "same_disp_unit", true_if(all & PROMISE_SAME_DISP_UNIT));
	gompi_info_add(x, "alloc_shared_noncontig", true_if(all & PROMISE_NONCONTIGUOUS));
	add_number(x, "mpi_minimum_memory_alignment", (uint64_t)h->alignment);
	gompi_info_add(x, "gompirma_huge_pages", true_if(h->huge_pages));
	gompi_info_add(x, "gompirma_share_in_place", in_place[h->in_place]);
	gompi_kinds_add(x, h->kinds);
	if (h->shared != NULL)
		gompi_info_add(x, "gompirma_shared_in_place", h->shared);
	if (h->kinds != NULL)
		gompi_info_add(x, GOMPI_KEY_ASSERT_KINDS, h->kinds);
	int class = gompi_info_finish(x, info_used, &v);
	return class == MPI_SUCCESS ? class : gompi_win_refuse(win, call, &v);
}
GOMPI_ENTRY(MPI_Win_get_info, gompi_win_get_info);
