#include "rma/follow.h"

#include "base/up.h"
#include "way/way.h"
#include "win/hot.h"

void gompi_follow(struct gompi_win *w, int rank, const char *call) {
	if (gompi_win_elsewhere(w, rank))
		return;
	struct gompi_win_member *m = gompi_member(w, rank);
	if (!gompi_hot_shared(m) || w->watch != NULL || gompi_part_of(w, rank).to != 0)
		return;
	// What has been sent is done first; what other threads send from now on they wait for themselves (way/node.c).
	if (gompi_way_to(w, rank)->flush(w, rank, call) != MPI_SUCCESS)
		return;
	gompi_up.follow(w->handle, rank, (int64_t)gompi_load(&m->heap), gompi_load(&m->place));
}
