/* Reads the typemap of a datatype through MPI_Type_get_envelope and MPI_Type_get_contents (MPI-5.0 5.1.13). */
#include "layout.h"

struct visit {
	int (*use)(void *arg, const struct gompi_run *run);
	void *arg;
};

/* The arguments of a datatype's constructor. The array `numbers` holds the integers followed by the addresses; for a
 * large-count constructor it holds the large counts instead. Both forms have the arguments in the same order. Subarray
 * and darray are exceptions: their small forms have the sizes between other integers. */
struct contents {
	int combiner;
	bool large;
	int *integers;
	MPI_Count *numbers;
	MPI_Datatype *types;
	MPI_Count n_types;
};

static void free_contents(struct contents *c) {
	for (MPI_Count i = 0; i < c->n_types; i++) {
		MPI_Count integers, addresses, counts, types;
		int combiner = MPI_COMBINER_NAMED;
		if (!PMPI_Type_get_envelope_c(c->types[i], &integers, &addresses, &counts, &types, &combiner) &&
		    combiner != MPI_COMBINER_NAMED)
			PMPI_Type_free(&c->types[i]);
	}
	free(c->integers);
	free(c->numbers);
	free(c->types);
}

/* Reads the contents of a datatype. For a predefined type, it reads only the combiner. The caller must call
 * free_contents. */
static int get(MPI_Datatype type, struct contents *c) {
	MPI_Count integers, addresses, counts, types;
	MPI_Aint *address;
	/* If the type is invalid and an error handler replaces the error by MPI_SUCCESS, the combiner keeps this value.
	 */
	c->combiner = MPI_COMBINER_NAMED;
	int rc = PMPI_Type_get_envelope_c(type, &integers, &addresses, &counts, &types, &c->combiner);
	if (rc || c->combiner == MPI_COMBINER_NAMED || c->combiner == MPI_COMBINER_VALUE_INDEX ||
	    c->combiner == MPI_COMBINER_F90_REAL || c->combiner == MPI_COMBINER_F90_COMPLEX ||
	    c->combiner == MPI_COMBINER_F90_INTEGER)
		return rc;
	c->large = counts > 0;
	c->integers = malloc((size_t)(integers + 1) * sizeof(int));
	c->numbers = calloc((size_t)(integers + addresses + counts + 1), sizeof(MPI_Count));
	c->types = malloc((size_t)(types + 1) * sizeof(MPI_Datatype));
	address = malloc((size_t)(addresses + 1) * sizeof(MPI_Aint));
	if (!c->integers || !c->numbers || !c->types || !address)
		rc = MPI_ERR_NO_MEM;
	if (!rc)
		rc = PMPI_Type_get_contents_c(type, integers, addresses, counts, types, c->integers, address,
					      c->numbers, c->types);
	if (!rc) {
		c->n_types = types;
		if (!c->large) {
			for (MPI_Count i = 0; i < integers; i++)
				c->numbers[i] = c->integers[i];
			for (MPI_Count i = 0; i < addresses; i++)
				c->numbers[integers + i] = address[i];
		}
	}
	free(address);
	return rc;
}

static int visit(const struct visit *v, MPI_Datatype type, MPI_Count n, MPI_Aint at);

/* One dimension of a subarray or distributed array, of which this process owns some indices. */
struct axis {
	MPI_Count size;  /* size of the array's dimension */
	MPI_Count block; /* number of consecutive indices that this process owns */
	MPI_Count first; /* first index of this process */
	MPI_Count cycle; /* distance between blocks of this process */
	MPI_Aint stride; /* distance of consecutive indices in bytes */
};

/* Visits all elements whose indices this process owns in axes 0 to n-1. The loop over axis n-1 is the outermost one. */
static int box(const struct visit *v, MPI_Datatype type, const struct axis *axis, int n, MPI_Aint at) {
	const struct axis *a = &axis[n - 1];
	int rc = MPI_SUCCESS;
	if (n == 0)
		return visit(v, type, 1, at);
	for (MPI_Count first = a->first; first < a->size && !rc; first += a->cycle) {
		MPI_Count end = first + a->block < a->size ? first + a->block : a->size;
		if (n == 1)
			rc = visit(v, type, end - first, at + first * a->stride);
		else
			for (MPI_Count i = first; i < end && !rc; i++)
				rc = box(v, type, axis, n - 1, at + i * a->stride);
	}
	return rc;
}

/* Computes the strides of the axes. For MPI_ORDER_C, reverses the axes first. */
static void strides(struct axis *axis, int n, int order, MPI_Count extent) {
	if (order == MPI_ORDER_C)
		for (int i = 0; i < n / 2; i++) {
			struct axis swap = axis[i];
			axis[i] = axis[n - 1 - i];
			axis[n - 1 - i] = swap;
		}
	for (int i = 0; i < n; i++) {
		axis[i].stride = extent;
		extent *= axis[i].size;
	}
}

static int subarray(const struct visit *v, const struct contents *c, MPI_Count extent, MPI_Aint at) {
	int n = c->integers[0], order = c->large ? c->integers[1] : c->integers[1 + 3 * n], rc;
	const MPI_Count *sizes = c->numbers + !c->large;
	struct axis *axis = malloc((size_t)n * sizeof *axis);
	if (!axis)
		return MPI_ERR_NO_MEM;
	for (int i = 0; i < n; i++) /* a single block, since a second one would begin beyond the array's end */
		axis[i] = (struct axis){
			.size = sizes[i], .block = sizes[n + i], .first = sizes[2 * n + i], .cycle = sizes[i]};
	strides(axis, n, order, extent);
	rc = box(v, c->types[0], axis, n, at);
	free(axis);
	return rc;
}

static int darray(const struct visit *v, const struct contents *c, MPI_Count extent, MPI_Aint at) {
	int n = c->integers[2], rank = c->integers[1], order, rc;
	const int *distribs = c->integers + 3 + (c->large ? 0 : n), *dargs = distribs + n, *psizes = dargs + n;
	struct axis *axis = malloc((size_t)n * sizeof *axis);
	if (!axis)
		return MPI_ERR_NO_MEM;
	order = psizes[n];
	/* The processes of a darray are numbered in row-major order, also if the array has Fortran's order. */
	for (int i = n - 1; i >= 0; i--) {
		MPI_Count size = c->large ? c->numbers[i] : c->integers[3 + i], p = psizes[i], block;
		int here = rank % psizes[i];
		rank /= psizes[i];
		switch (distribs[i]) {
		case MPI_DISTRIBUTE_BLOCK:
			block = dargs[i] == MPI_DISTRIBUTE_DFLT_DARG ? (size + p - 1) / p : dargs[i];
			break;
		case MPI_DISTRIBUTE_CYCLIC:
			block = dargs[i] == MPI_DISTRIBUTE_DFLT_DARG ? 1 : dargs[i];
			break;
		default:
			block = size;
		}
		axis[i] = (struct axis){.size = size, .block = block, .first = here * block, .cycle = block * p};
	}
	strides(axis, n, order, extent);
	rc = box(v, c->types[0], axis, n, at);
	free(axis);
	return rc;
}

/* Visits one element of a derived datatype at the offset `at`. */
static int constructed(const struct visit *v, const struct contents *c, MPI_Aint at) {
	const MPI_Count *k = c->numbers;
	const MPI_Datatype old = c->types[0];
	MPI_Count lb, extent, n = k[0];
	int rc = c->combiner == MPI_COMBINER_STRUCT ? MPI_SUCCESS : PMPI_Type_get_extent_c(old, &lb, &extent);
	switch (c->combiner) {
	case MPI_COMBINER_DUP:
	case MPI_COMBINER_RESIZED:
		return rc ? rc : visit(v, old, 1, at);
	case MPI_COMBINER_CONTIGUOUS:
		return rc ? rc : visit(v, old, n, at);
	case MPI_COMBINER_VECTOR:
	case MPI_COMBINER_HVECTOR:
		for (MPI_Count i = 0; i < n && !rc; i++)
			rc = visit(v, old, k[1], at + i * k[2] * (c->combiner == MPI_COMBINER_VECTOR ? extent : 1));
		return rc;
	case MPI_COMBINER_INDEXED:
	case MPI_COMBINER_HINDEXED:
		for (MPI_Count i = 0; i < n && !rc; i++)
			rc = visit(v, old, k[1 + i],
				   at + k[1 + n + i] * (c->combiner == MPI_COMBINER_INDEXED ? extent : 1));
		return rc;
	case MPI_COMBINER_INDEXED_BLOCK:
	case MPI_COMBINER_HINDEXED_BLOCK:
		for (MPI_Count i = 0; i < n && !rc; i++)
			rc = visit(v, old, k[1],
				   at + k[2 + i] * (c->combiner == MPI_COMBINER_INDEXED_BLOCK ? extent : 1));
		return rc;
	case MPI_COMBINER_STRUCT:
		for (MPI_Count i = 0; i < n && !rc; i++)
			rc = visit(v, c->types[i], k[1 + i], at + k[1 + n + i]);
		return rc;
	case MPI_COMBINER_SUBARRAY:
		return rc ? rc : subarray(v, c, extent, at);
	case MPI_COMBINER_DARRAY:
		return rc ? rc : darray(v, c, extent, at);
	}
	return MPI_ERR_TYPE;
}

/* Visits n consecutive elements of a datatype. The first element is at the offset `at`. */
static int visit(const struct visit *v, MPI_Datatype type, MPI_Count n, MPI_Aint at) {
	struct contents c = {0};
	MPI_Count lb, extent;
	int rc = get(type, &c);
	if (!rc)
		rc = PMPI_Type_get_extent_c(type, &lb, &extent);
	if (!rc) {
		if (!c.types) {
			struct gompi_run run = {.at = at, .n = n, .basic = type};
			rc = v->use(v->arg, &run);
		} else {
			for (MPI_Count i = 0; i < n && !rc; i++)
				rc = constructed(v, &c, at + i * extent);
		}
	}
	free_contents(&c);
	return rc;
}

int gompi_typemap(MPI_Datatype type, MPI_Count count, int (*use)(void *arg, const struct gompi_run *run), void *arg) {
	struct visit v = {.use = use, .arg = arg};
	return visit(&v, type, count, 0);
}
