// MPI_Type_get_contents: returns the arguments with which a datatype was constructed (MPI-5.0 5.1.13). envelope.c
// returns their counts.
#include <string.h>

#include "base/alloc_or_abort.h"
#include "base/error_status.h"
#include "datatype/label.h"
#include "datatype/type_props.h"
#include "datatype/recipe.h"
#include "datatype/z_calls.h"

// The outputs of MPI_Type_get_contents and of its large-count form (is_large), and the capacity of each array.
struct type_contents {
	bool is_large;
	int64_t max_integers, max_addresses, max_counts, max_types;
	int *integers;
	MPI_Aint *addresses;
	MPI_Count *counts;
	MPI_Datatype *types;
};

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
	case MPI_COMBINER_F90_REAL:
	case MPI_COMBINER_F90_COMPLEX:
		*to.integers++ = (int)r->a;
		*to.integers = (int)r->b;
		break;
	case MPI_COMBINER_F90_INTEGER:
		*to.integers = (int)r->b;
		break;
	default:
		bytes = bytes && r->combiner != MPI_COMBINER_INDEXED && r->combiner != MPI_COMBINER_INDEXED_BLOCK;
		put_number(&to, r->n);
		if (gompi_recipe_has_same_lengths(r))
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

// Fills in the error status for the capacity of an array that is too small, or for an array that is NULL.
static int check_capacity(const char *name, int64_t capacity, int64_t needed, const void *array, const char *label,
			  struct gompi_error_status *v) {
	if (capacity < needed)
		return gompi_set_error(v, MPI_ERR_ARG, "max_%s is %lld, but datatype %s needs %lld", name,
				       (long long)capacity, label, (long long)needed);
	if (needed > 0 && array == NULL)
		return gompi_set_error(v, MPI_ERR_ARG, "array_of_%s is NULL, but must have at least %lld entries", name,
				       (long long)needed);
	return MPI_SUCCESS;
}

// Raises the error of a call that cannot be executed: its arguments are invalid, or memory is exhausted.
static __attribute__((cold, noinline)) int raise_contents(const struct type_contents *c, MPI_Datatype datatype) {
	static const char call[] = "MPI_Type_get_contents";
	const struct gompi_type_props *f = gompi_type_props_get(datatype);
	struct gompi_error_status v;
	char label[GOMPI_LABEL];
	int class = MPI_SUCCESS;
	if (f == NULL)
		return gompi_not_a_datatype(datatype, call);
	gompi_type_label(datatype, label);
	if (f->combiner == MPI_COMBINER_NAMED)
		class = gompi_set_error(&v, MPI_ERR_TYPE, "%s is a predefined datatype, which has no contents", label);
	else if (!c->is_large && f->is_large)
		class = gompi_set_error(&v, MPI_ERR_TYPE,
					"datatype %s was created with large counts: call the _c form of this function",
					label);
	if (class == MPI_SUCCESS)
		class = check_capacity("integers", c->max_integers, f->integers, c->integers, label, &v);
	if (class == MPI_SUCCESS)
		class = check_capacity("addresses", c->max_addresses, f->addresses, c->addresses, label, &v);
	if (class == MPI_SUCCESS)
		class = check_capacity("large_counts", c->max_counts, f->counts, c->counts, label, &v);
	if (class == MPI_SUCCESS)
		class = check_capacity("datatypes", c->max_types, f->types, c->types, label, &v);
	if (class == MPI_SUCCESS)
		class = gompi_set_error(&v, MPI_ERR_NO_MEM, "%s", gompi_no_memory_text("cannot create a datatype"));
	return gompi_return_error(class, call, v.text, GOMPI_ON_NONE, 0);
}

static inline uintptr_t handle_of(const struct gompi_recipe *r, int64_t i, const struct gompi_type *t) {
	return gompi_type_is_freeable(t) ? gompi_type_meta(t)->handle : (uintptr_t)r->types[i];
}

static int query_contents(const struct type_contents *c, MPI_Datatype datatype) {
	const struct gompi_type *t = gompi_type_get_any(datatype);
	const struct gompi_type_props *f = t != NULL ? gompi_type_props_of(t) : NULL;
	const struct gompi_recipe *r = t != NULL && gompi_type_is_freeable(t) ? gompi_type_meta(t)->recipe : NULL;
	if (r == NULL || (!c->is_large && f->is_large) || c->max_integers < f->integers ||
	    c->max_addresses < f->addresses || c->max_counts < f->counts || c->max_types < f->types ||
	    (f->integers != 0 && c->integers == NULL) || (f->addresses != 0 && c->addresses == NULL) ||
	    (f->counts != 0 && c->counts == NULL) || (f->types != 0 && c->types == NULL))
		return raise_contents(c, datatype);
	for (int64_t i = 0; i < r->type_count; i++) {
		const struct gompi_type *old = gompi_recipe_type(r, i);
		uintptr_t handle = gompi_type_is_basic(old) ? handle_of(r, i, old) : copy_of_type(old);
		if (handle == 0) {
			while (i-- > 0)
				if (!gompi_type_is_basic(gompi_recipe_type(r, i)))
					gompi_type_remove((uintptr_t)c->types[i]);
			return raise_contents(c, datatype);
		}
		c->types[i] = (MPI_Datatype)handle;
	}
	put_contents(r, c->integers, c->addresses, c->counts);
	return MPI_SUCCESS;
}

int gompi_type_get_contents(MPI_Datatype datatype, int max_integers, int max_addresses, int max_datatypes,
			    int integers[], MPI_Aint addresses[], MPI_Datatype datatypes[]) {
	return query_contents(&(struct type_contents){.max_integers = max_integers,
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
	return query_contents(&(struct type_contents){.is_large = true,
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
