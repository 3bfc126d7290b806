/* Constructs a datatype that describes a section of an array.
 *
 * The call's count and datatype apply to the elements of the section as if they were contiguous (MPI-5.0 19.1.12).
 * Therefore one element of the datatype may end inside an array element. The result is made of nested vectors, one
 * level per dimension, under two conditions. Consecutive elements of the datatype must not overlap, and the size of an
 * array element must be a multiple of the datatype's extent. Any other datatype is decomposed into its basic
 * elements. */
#include <pthread.h>

#include "layout.h"

/* ---- Datatypes that fit into the array's elements ---- */

/* The parts into which the first elements of a section are divided. There is at most one part with whole slices for
 * each dimension. A last part may follow, which ends inside an array element. */
struct parts {
	int n;
	MPI_Aint at[CFI_MAX_RANK + 1];
	MPI_Datatype type[CFI_MAX_RANK + 1];
};

static void free_parts(struct parts *p) {
	for (int i = 0; i < p->n; i++)
		PMPI_Type_free(&p->type[i]);
}

/* Constructs the datatype of n slices of dimension d. A slice has all elements of the dimensions below d. */
static int slices(const struct gompi_layout *l, int d, MPI_Count n, MPI_Datatype elem, MPI_Datatype *type) {
	MPI_Datatype inner = elem;
	int rc = MPI_SUCCESS;
	for (int i = 0; i <= d && !rc; i++) {
		rc = PMPI_Type_create_hvector_c(i == d ? n : l->dim[i].n, 1, l->dim[i].stride, inner, type);
		if (inner != elem)
			PMPI_Type_free(&inner);
		inner = *type;
	}
	return rc;
}

/* Sets *p to parts that together contain the first n elements: whole slices of the outermost dimension, then whole
 * slices of the next inner dimension, and so on. */
static int cut(const struct gompi_layout *l, MPI_Count n, MPI_Datatype elem, struct parts *p) {
	MPI_Count below = 1; /* number of elements in one slice */
	MPI_Aint at = 0;
	for (int d = 0; d < l->rank - 1; d++)
		below *= l->dim[d].n;
	for (int d = l->rank - 1; n > 0; below /= l->dim[--d].n) {
		MPI_Count whole = n / below;
		if (whole > 0) {
			int rc = slices(l, d, whole, elem, &p->type[p->n]);
			if (rc)
				return rc;
			p->at[p->n++] = at;
			at += whole * l->dim[d].stride;
			n -= whole * below;
		}
		if (d == 0)
			break;
	}
	return MPI_SUCCESS;
}

/* Combines the parts into one datatype. */
static int join(const struct parts *p, MPI_Datatype *type) {
	int ones[CFI_MAX_RANK + 1];
	if (p->n == 1 && p->at[0] == 0)
		return PMPI_Type_dup(p->type[0], type);
	for (int i = 0; i < p->n; i++)
		ones[i] = 1;
	return PMPI_Type_create_struct(p->n, ones, p->at, p->type, type);
}

static int in_elements(const struct gompi_layout *l, MPI_Count count, MPI_Datatype type, MPI_Count extent,
		       MPI_Datatype *made) {
	MPI_Count each = (MPI_Count)l->elem / extent; /* number of the datatype's elements in one array element */
	MPI_Count whole = count / each, rest = count % each;
	MPI_Datatype elem = type;
	struct parts p = {0};
	int rc = MPI_SUCCESS;
	if (whole > l->total || (whole == l->total && rest > 0))
		return MPI_ERR_COUNT;
	if (each > 1)
		rc = PMPI_Type_contiguous_c(each, type, &elem);
	if (!rc)
		rc = cut(l, whole, elem, &p);
	if (!rc && rest > 0) {
		rc = PMPI_Type_contiguous_c(rest, type, &p.type[p.n]);
		if (!rc)
			p.at[p.n++] = gompi_layout_at(l, whole);
	}
	if (!rc)
		rc = join(&p, made);
	free_parts(&p);
	if (elem != type)
		PMPI_Type_free(&elem);
	return rc;
}

/* ---- Any datatype ---- */

/* The arguments of MPI_Type_create_struct, in arrays that grow. */
struct blocks {
	const struct gompi_layout *l;
	MPI_Count n, room;
	MPI_Count *length, *at;
	MPI_Datatype *type;
};

static int add_block(struct blocks *b, MPI_Aint at, MPI_Count n, MPI_Datatype type, MPI_Count extent) {
	if (b->n > 0 && b->type[b->n - 1] == type && b->at[b->n - 1] + b->length[b->n - 1] * extent == at) {
		b->length[b->n - 1] += n;
		return MPI_SUCCESS;
	}
	if (b->n == b->room) {
		MPI_Count room = b->room ? 2 * b->room : 64;
		MPI_Count *length = realloc(b->length, (size_t)room * sizeof *length);
		if (length)
			b->length = length;
		MPI_Count *place = realloc(b->at, (size_t)room * sizeof *place);
		if (place)
			b->at = place;
		MPI_Datatype *types = realloc(b->type, (size_t)room * sizeof *types);
		if (types)
			b->type = types;
		if (!length || !place || !types)
			return MPI_ERR_NO_MEM;
		b->room = room;
	}
	b->length[b->n] = n;
	b->at[b->n] = at;
	b->type[b->n++] = type;
	return MPI_SUCCESS;
}

/* Adds the blocks that a run of basic elements occupies in the array. gompi_typemap calls it for each run. */
static int place(void *arg, const struct gompi_run *run) {
	struct blocks *b = arg;
	const MPI_Count elem = (MPI_Count)b->l->elem;
	MPI_Count lb, extent = 0, true_lb, span = 0, n = run->n;
	MPI_Aint at = run->at;
	int rc = PMPI_Type_get_extent_c(run->basic, &lb, &extent);
	if (!rc)
		rc = PMPI_Type_get_true_extent_c(run->basic, &true_lb, &span); /* the true extent of a pair type
		                                                                * excludes the gap at its end */
	if (rc || extent == 0)
		return rc;
	while (n > 0) {
		MPI_Count i = at / elem, room = elem - at % elem, fit;
		if (at < 0 || i >= b->l->total)
			return MPI_ERR_COUNT;
		if (room < span)
			return MPI_ERR_TYPE;
		fit = (room - span) / extent + 1;
		if (fit > n)
			fit = n;
		if ((rc = add_block(b, gompi_layout_at(b->l, i) + at % elem, fit, run->basic, extent)))
			return rc;
		at += fit * extent;
		n -= fit;
	}
	return MPI_SUCCESS;
}

static int any(const struct gompi_layout *l, MPI_Count count, MPI_Datatype type, MPI_Datatype *made) {
	struct blocks b = {.l = l};
	int rc = gompi_typemap(type, count, place, &b);
	if (!rc)
		rc = PMPI_Type_create_struct_c(b.n, b.length, b.at, b.type, made);
	free(b.length);
	free(b.at);
	free(b.type);
	return rc;
}

/* ---- The cache of section datatypes ---- */

/* Programs send the same sections repeatedly, such as the edges of their arrays. Therefore each thread caches the
 * datatypes of the sections that it described last. Only sections with predefined datatypes are cached, because the
 * handle of a derived datatype may be reused for a different datatype. */
struct known {
	MPI_Datatype of;   /* datatype of the call */
	MPI_Datatype made; /* datatype of the section; MPI_DATATYPE_NULL or 0 if the entry is empty */
	MPI_Count count;
	size_t elem;
	int rank;
	struct {
		MPI_Count n;
		MPI_Aint stride;
	} dim[4];
};

enum { KNOWN = 16 };

struct memory {
	unsigned life; /* value of the global `life` when the cache was filled; the cached datatypes are invalid if
	                * `life` has changed */
	unsigned next; /* counter; the next entry to replace is next % KNOWN */
	struct known known[KNOWN];
};

static _Atomic unsigned life;
static _Thread_local struct memory *memory;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

void gompi_forget_sections(void) { life++; }

/* Frees the cache of a thread when the thread ends. */
static void forget(void *ending) {
	struct memory *m = ending;
	int over = 0;
	PMPI_Finalized(&over);
	for (int i = 0; i < KNOWN; i++)
		if (m->known[i].made && !over && m->life == life)
			PMPI_Type_free(&m->known[i].made);
	free(m);
}

static void make_key(void) { pthread_key_create(&key, forget); }

/* Returns this thread's cache, or NULL if out of memory. Drops entries that were filled before MPI was finalized and
 * initialized again. */
static struct memory *recall(void) {
	if (!memory && (memory = calloc(1, sizeof *memory))) {
		pthread_once(&once, make_key);
		pthread_setspecific(key, memory);
	}
	if (memory && memory->life != life) {
		memset(memory->known, 0, sizeof memory->known);
		memory->life = life;
	}
	return memory;
}

/* Returns true if the section may be cached. If so, sets *k to the key of its entry. */
static bool may_keep(struct known *k, const struct gompi_layout *l, MPI_Count count, MPI_Datatype type) {
	if ((uintptr_t)type >= 4096 || l->rank > (int)(sizeof k->dim / sizeof *k->dim))
		return false;
	memset(k, 0, sizeof *k); /* entries are compared as bytes, so the padding must be zero */
	k->of = type;
	k->count = count;
	k->elem = l->elem;
	k->rank = l->rank;
	for (int i = 0; i < l->rank; i++) {
		k->dim[i].n = l->dim[i].n;
		k->dim[i].stride = l->dim[i].stride;
	}
	return true;
}

static MPI_Datatype find(const struct memory *m, struct known *wanted) {
	for (int i = 0; m && i < KNOWN; i++) {
		wanted->made = m->known[i].made;
		if (wanted->made && memcmp(wanted, &m->known[i], sizeof *wanted) == 0)
			return wanted->made;
	}
	return MPI_DATATYPE_NULL;
}

/* Stores the datatype `made` in the cache under the key k. The cache then owns the datatype. Returns false if there is
 * no cache. */
static bool keep(struct memory *m, struct known *k, MPI_Datatype made) {
	struct known *old;
	if (!m)
		return false;
	old = &m->known[m->next++ % KNOWN];
	if (old->made)
		PMPI_Type_free(&old->made);
	k->made = made;
	memcpy(old, k, sizeof *old); /* copies the padding too, for the comparison */
	return true;
}

/* ---- Functions that the entry points call ---- */

/* Initial value of an extent. If an invalid datatype is passed and the error handler replaces the error by MPI_SUCCESS,
 * the extent keeps this value. */
#define NO_EXTENT INT64_MIN

/* Sets *yes to true if the data of each element of the datatype is within the element's extent. There may be gaps. Sets
 * *extent to the extent. */
static int tiles(MPI_Datatype type, bool *yes, MPI_Count *extent) {
	MPI_Count lb, true_lb = 0, true_extent = 0;
	*extent = NO_EXTENT;
	int rc = PMPI_Type_get_extent_c(type, &lb, extent);
	if (!rc)
		rc = PMPI_Type_get_true_extent_c(type, &true_lb, &true_extent);
	*yes = !rc && *extent > 0 && lb == 0 && true_lb >= 0 && true_lb + true_extent <= *extent;
	return rc;
}

int gompi_section_make(struct gompi_section *s, const CFI_cdesc_t *d, MPI_Count count, MPI_Datatype type) {
	struct gompi_layout l;
	struct known known;
	MPI_Count extent;
	bool regular, keepable;
	int rc;
	s->addr = d->base_addr;
	s->count = count;
	s->type = type;
	if (count <= 0 || type == MPI_DATATYPE_NULL)
		return MPI_SUCCESS; /* there is no data, or the MPI function reports the error */
	gompi_layout_of(&l, d);
	keepable = may_keep(&known, &l, count, type);
	if (keepable) {
		MPI_Datatype made = find(recall(), &known);
		if (made != MPI_DATATYPE_NULL) {
			s->type = made;
			s->count = 1;
			return MPI_SUCCESS;
		}
	}
	rc = tiles(type, &regular, &extent);
	if (rc || extent == NO_EXTENT)
		return rc; /* the call refuses the datatype, too */
	if (regular && l.elem % (size_t)extent == 0)
		rc = in_elements(&l, count, type, extent, &s->type);
	else
		rc = any(&l, count, type, &s->type);
	if (!rc) {
		s->made = true;
		s->count = 1;
		rc = PMPI_Type_commit(&s->type);
	}
	if (!rc && keepable && keep(recall(), &known, s->type))
		s->made = false;
	return rc;
}

int gompi_section_partitions(struct gompi_section *s, const CFI_cdesc_t *d, int partitions, MPI_Count count,
			     MPI_Datatype type) {
	struct gompi_layout l;
	MPI_Datatype one;
	MPI_Count extent, elems;
	bool regular;
	int rc, dim = 0;
	s->addr = buffer_in(d->base_addr);
	s->count = count;
	s->type = type;
	if (simple(d) || count <= 0 || partitions <= 0 || type == MPI_DATATYPE_NULL)
		return MPI_SUCCESS;
	gompi_layout_of(&l, d);
	rc = tiles(type, &regular, &extent);
	if (rc || extent == NO_EXTENT)
		return rc; /* the call refuses the datatype, too */
	if (!regular || count * extent % (MPI_Count)l.elem != 0 || l.elem % (size_t)extent != 0)
		return MPI_ERR_BUFFER;
	/* Each partition must consist of whole slices, and all partitions must be slices of the same dimension. */
	elems = count * extent / (MPI_Count)l.elem;
	for (; dim < l.rank - 1 && elems % l.dim[dim].n == 0; dim++)
		elems /= l.dim[dim].n;
	if (elems * partitions > l.dim[dim].n)
		return MPI_ERR_BUFFER;
	rc = in_elements(&l, count, type, extent, &one);
	if (!rc) {
		rc = PMPI_Type_create_resized_c(one, 0, elems * l.dim[dim].stride, &s->type);
		PMPI_Type_free(&one);
	}
	if (!rc) {
		s->made = true;
		s->count = 1;
		rc = PMPI_Type_commit(&s->type);
	}
	return rc;
}

int gompi_single(const CFI_cdesc_t *d, MPI_Datatype type) {
	struct gompi_layout l;
	MPI_Count lb = 0, extent = 0;
	int rc = PMPI_Type_get_true_extent_c(type, &lb, &extent);
	gompi_layout_of(&l, d);
	if (!rc && (lb < 0 || lb + extent > (MPI_Count)l.elem))
		rc = MPI_ERR_TYPE;
	return rc;
}

int gompi_scratch_make(struct gompi_scratch *s, const CFI_cdesc_t *d, bool comes_out) {
	struct gompi_layout *l = malloc(sizeof *l);
	size_t size;
	if (!l)
		return MPI_ERR_NO_MEM;
	gompi_layout_of(l, d);
	size = (size_t)l->total * l->elem;
	s->addr = malloc(comes_out ? 2 * size : size);
	if (!s->addr) {
		free(l);
		return MPI_ERR_NO_MEM;
	}
	s->of = l;
	gompi_layout_gather(s->addr, l);
	if (comes_out)
		s->before = memcpy((char *)s->addr + size, s->addr, size);
	return MPI_SUCCESS;
}
