/* Computes the position of an array's elements, and copies them. */
#include "layout.h"

void gompi_layout_of(struct gompi_layout *l, const CFI_cdesc_t *d) {
	l->base = d->base_addr;
	l->elem = l->unit = d->elem_len;
	l->total = 1;
	l->rank = 0;
	for (int i = 0; i < d->rank; i++) {
		MPI_Count n = d->dim[i].extent;
		MPI_Aint stride = d->dim[i].sm;
		if (n == 1)
			continue;
		if (l->rank == 0 && stride == (MPI_Aint)l->elem) { /* the elements are contiguous, so they become one
		                                                    * larger element */
			l->elem *= (size_t)n;
		} else if (l->rank > 0 && stride == l->dim[l->rank - 1].stride * l->dim[l->rank - 1].n) {
			l->dim[l->rank - 1].n *= n;
			l->total *= n;
		} else {
			l->dim[l->rank].n = n;
			l->dim[l->rank++].stride = stride;
			l->total *= n;
		}
	}
}

MPI_Aint gompi_layout_at(const struct gompi_layout *l, MPI_Count i) {
	MPI_Aint at = 0;
	for (int d = 0; d < l->rank; d++) {
		at += i % l->dim[d].n * l->dim[d].stride;
		i /= l->dim[d].n;
	}
	return at;
}

/* An iterator over all elements in array element order. */
struct walk {
	MPI_Count index[CFI_MAX_RANK];
	char *at;
};

static void step(struct walk *w, const struct gompi_layout *l) {
	for (int d = 0; d < l->rank; d++) {
		w->at += l->dim[d].stride;
		if (++w->index[d] < l->dim[d].n)
			return;
		w->at -= l->dim[d].stride * l->dim[d].n;
		w->index[d] = 0;
	}
}

void gompi_layout_gather(char *to, const struct gompi_layout *l) {
	struct walk w = {.at = l->base};
	for (MPI_Count i = 0; i < l->total; i++, to += l->elem, step(&w, l))
		memcpy(to, w.at, l->elem);
}

void gompi_layout_scatter(const struct gompi_layout *l, const char *from, const char *before) {
	struct walk w = {.at = l->base};
	for (MPI_Count i = 0; i < l->total; i++, step(&w, l))
		for (char *at = w.at, *end = at + l->elem; at < end; at += l->unit, from += l->unit, before += l->unit)
			if (memcmp(from, before, l->unit) != 0)
				memcpy(at, from, l->unit);
}
