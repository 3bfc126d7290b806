// MPI_Type_get_contents: returns the arguments with which a datatype was constructed (MPI-5.0 5.1.13). envelope.c
// returns their counts. Go handles types that Go has constructed, and reports errors.
#include <string.h>

#include "base/go_callbacks.h"
#include "datatype/type_props.h"
#include "datatype/recipe.h"
#include "datatype/z_calls.h"

// The destination of put_number: the array `counts` if it is not NULL (large-count form), else the array `integers`.
struct numbers {
	MPI_Count *counts;
	int *integers;
};

static inline void put_number(struct numbers *to, int64_t value) {
	if (to->counts != NULL)
		*to->counts++ = value;
	else
		*to->integers++ = (int)value;
}

// Stores one list of the recipe r: in the array `addresses` if it is not NULL (displacements in bytes), else with
// put_number.
static void put_list(struct numbers *to, MPI_Aint *addresses, const struct gompi_recipe *r, int list) {
	for (int64_t i = 0; r->list[list] != NULL && i < r->n; i++) {
		if (addresses != NULL)
			addresses[i] = gompi_recipe_at(r, list, i);
		else
			put_number(to, gompi_recipe_at(r, list, i));
	}
}

static void put_contents(const struct gompi_recipe *r, int *integers, MPI_Aint *addresses, MPI_Count *counts) {
	struct numbers to = {r->is_large ? counts : NULL, integers};
	bool bytes = !r->is_large;
	switch (r->combiner) {
	case MPI_COMBINER_DUP:
		break;
	case MPI_COMBINER_RESIZED:
		if (bytes) {
			addresses[0] = r->a;
			addresses[1] = r->b;
		} else {
			put_number(&to, r->a);
			put_number(&to, r->b);
		}
		break;
	case MPI_COMBINER_SUBARRAY:
		*to.integers++ = (int)r->n;
		for (int i = 0; i < 3; i++)
			put_list(&to, NULL, r, i);
		*to.integers = r->order;
		break;
	case MPI_COMBINER_DARRAY:
		*to.integers++ = (int)r->a;
		*to.integers++ = (int)r->b;
		*to.integers++ = (int)r->n;
		put_list(&to, NULL, r, 0);
		to.counts = NULL;
		for (int i = 1; i < 4; i++)
			put_list(&to, NULL, r, i);
		*to.integers = r->order;
		break;
	case MPI_COMBINER_HVECTOR:
		put_number(&to, r->n);
		put_number(&to, r->a);
		if (bytes)
			addresses[0] = r->b;
		else
			put_number(&to, r->b);
		break;
	case MPI_COMBINER_VECTOR:
		put_number(&to, r->n);
		put_number(&to, r->a);
		put_number(&to, r->b);
		break;
	case MPI_COMBINER_CONTIGUOUS:
		put_number(&to, r->n);
		break;
	default:
		bytes = bytes && r->combiner != MPI_COMBINER_INDEXED && r->combiner != MPI_COMBINER_INDEXED_BLOCK;
		put_number(&to, r->n);
		if (r->list[0] == NULL)
			put_number(&to, r->a);
		put_list(&to, NULL, r, 0);
		put_list(&to, bytes ? addresses : NULL, r, 1);
	}
}

// Returns the handle of an uncommitted copy of t; 0 if out of memory.
static uintptr_t copy_of_type(const struct gompi_type *t) {
	const struct gompi_type_meta *meta = gompi_type_meta(t);
	struct gompi_type *duplicate = gompi_type_new(t->words, gompi_recipe_bytes(meta->recipe));
	if (duplicate == NULL)
		return 0;
	memcpy(duplicate, t, (size_t)t->words * sizeof(int64_t));
	duplicate->magic = 0;
	gompi_type_meta(duplicate)->props = meta->props;
	gompi_recipe_store(meta->recipe, duplicate, t->words);
	return gompi_type_add_handle(duplicate);
}

static int query_contents(const struct gompi_contents *c, MPI_Datatype datatype) {
	const struct gompi_type *t = gompi_type_get_any(datatype);
	const struct gompi_type_props *f = t != NULL ? gompi_type_props_of(t) : NULL;
	const struct gompi_recipe *r = t != NULL && gompi_type_is_freeable(t) ? gompi_type_meta(t)->recipe : NULL;
	bool can_do_in_c = r != NULL && (c->is_large || !f->is_large) && c->max_integers >= f->integers &&
			   c->max_addresses >= f->addresses && c->max_counts >= f->counts && c->max_types >= f->types &&
			   (f->integers == 0 || c->integers != NULL) && (f->addresses == 0 || c->addresses != NULL) &&
			   (f->counts == 0 || c->counts != NULL) && (f->types == 0 || c->types != NULL);
	for (int64_t i = 0; can_do_in_c && i < r->type_count; i++) {
		const struct gompi_type *old = gompi_recipe_type(r, i);
		can_do_in_c = !gompi_type_is_freeable(old) || gompi_type_meta(old)->recipe != NULL;
	}
	if (!can_do_in_c)
		return gompi_go_callbacks.get_contents(c, (uintptr_t)datatype);
	for (int64_t i = 0; i < r->type_count; i++) {
		const struct gompi_type *old = gompi_recipe_type(r, i);
		uintptr_t handle = gompi_type_is_freeable(old) ? copy_of_type(old) : (uintptr_t)r->types[i];
		if (handle == 0) {
			while (i-- > 0)
				if (gompi_type_is_freeable(gompi_recipe_type(r, i)))
					gompi_type_remove((uintptr_t)c->types[i]);
			return gompi_go_callbacks.get_contents(c, (uintptr_t)datatype);
		}
		c->types[i] = (MPI_Datatype)handle;
	}
	put_contents(r, c->integers, c->addresses, c->counts);
	return MPI_SUCCESS;
}

int gompi_type_get_contents(MPI_Datatype datatype, int max_integers, int max_addresses, int max_datatypes,
			    int integers[], MPI_Aint addresses[], MPI_Datatype datatypes[]) {
	return query_contents(&(struct gompi_contents){.max_integers = max_integers,
						       .max_addresses = max_addresses,
						       .max_types = max_datatypes,
						       .integers = integers,
						       .addresses = addresses,
						       .types = datatypes},
			      datatype);
}
GOMPI_ENTRY(MPI_Type_get_contents, gompi_type_get_contents);

int gompi_type_get_contents_c(MPI_Datatype datatype, MPI_Count max_integers, MPI_Count max_addresses,
			      MPI_Count max_large_counts, MPI_Count max_datatypes, int integers[], MPI_Aint addresses[],
			      MPI_Count large_counts[], MPI_Datatype datatypes[]) {
	return query_contents(&(struct gompi_contents){.is_large = true,
						       .max_integers = max_integers,
						       .max_addresses = max_addresses,
						       .max_counts = max_large_counts,
						       .max_types = max_datatypes,
						       .integers = integers,
						       .addresses = addresses,
						       .counts = large_counts,
						       .types = datatypes},
			      datatype);
}
GOMPI_ENTRY(MPI_Type_get_contents_c, gompi_type_get_contents_c);
