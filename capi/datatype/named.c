// Look-up of types that the library owns (MPI-5.0 6.9.4, 19.1.9). Errors are raised on MPI_COMM_SELF. No function
// blocks or communicates. An unnamed type (MPI_Type_create_f90_integer, _real, _complex) is created at its first
// request.
#include <string.h>

#include "base/alloc_or_abort.h"
#include "base/biased_mutex.h"
#include "base/go_callbacks.h"
#include "base/error_status.h"
#include "datatype/predefined.h"
#include "datatype/recipe.h"
#include "datatype/type_props.h"
#include "datatype/z_calls.h"

// Types, indexed by the binary logarithm of their size in bytes; 0 if no type has that size.
static const MPI_Datatype integers_of[] = {MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8, MPI_INTEGER16, 0},
			  reals_of[] = {0, MPI_REAL2, MPI_REAL4, MPI_REAL8, MPI_REAL16, 0},
			  complexes_of[] = {0, 0, MPI_COMPLEX4, MPI_COMPLEX8, MPI_COMPLEX16, MPI_COMPLEX32},
			  logicals_of[] = {MPI_LOGICAL1, MPI_LOGICAL2, MPI_LOGICAL4, MPI_LOGICAL8, MPI_LOGICAL16, 0};

int gompi_type_match_size(int typeclass, int size, MPI_Datatype *datatype) {
	static const char call[] = "MPI_Type_match_size";
	struct gompi_error_status v;
	const MPI_Datatype *of = NULL;
	switch (typeclass) {
	case MPI_TYPECLASS_INTEGER:
		of = integers_of;
		break;
	case MPI_TYPECLASS_REAL:
		of = reals_of;
		break;
	case MPI_TYPECLASS_COMPLEX:
		of = complexes_of;
		break;
	case MPIX_TYPECLASS_LOGICAL:
		of = logicals_of;
		break;
	default:
		gompi_set_error(&v, MPI_ERR_ARG, "typeclass is %d, which is not an MPI_TYPECLASS_ constant", typeclass);
		return gompi_return_error(v.class, call, v.text, GOMPI_ON_NONE, 0);
	}
	bool power = size > 0 && size <= 32 && (size & (size - 1)) == 0;
	if (!power || of[__builtin_ctz((unsigned)size)] == 0) {
		gompi_set_error(&v, MPI_ERR_ARG, "no predefined datatype of this typeclass has a size of %d bytes",
				size);
		return gompi_return_error(v.class, call, v.text, GOMPI_ON_NONE, 0);
	}
	if (datatype == NULL)
		return gompi_null_argument_error(call, "datatype", GOMPI_ON_NONE, 0);
	*datatype = of[__builtin_ctz((unsigned)size)];
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Type_match_size, gompi_type_match_size);

#define TWO_INTEGER8 (MPI_Datatype)0x233 // a pair of INTEGER8s, without a name in MPI (core/datatype.TwoInteger8)

static const struct {
	MPI_Datatype pair, value, index;
} pairs[] = {
	{MPI_FLOAT_INT, MPI_FLOAT, MPI_INT},      {MPI_DOUBLE_INT, MPI_DOUBLE, MPI_INT},
	{MPI_LONG_INT, MPI_LONG, MPI_INT},        {MPI_2INT, MPI_INT, MPI_INT},
	{MPI_SHORT_INT, MPI_SHORT, MPI_INT},      {MPI_LONG_DOUBLE_INT, MPI_LONG_DOUBLE, MPI_INT},
	{MPI_2REAL, MPI_REAL, MPI_REAL},          {MPI_2DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION},
	{MPI_2INTEGER, MPI_INTEGER, MPI_INTEGER}, {TWO_INTEGER8, MPI_INTEGER8, MPI_INTEGER8}};
enum { PAIRS = sizeof pairs / sizeof *pairs };

bool gompi_pair_parts(uintptr_t pair, uintptr_t *value, uintptr_t *index) {
	for (int i = 0; i < PAIRS; i++) {
		if (pairs[i].pair != (MPI_Datatype)pair)
			continue;
		*value = (uintptr_t)pairs[i].value;
		*index = (uintptr_t)pairs[i].index;
		return true;
	}
	return false;
}

int gompi_type_get_value_index(MPI_Datatype value_type, MPI_Datatype index_type, MPI_Datatype *pair_type) {
	static const char call[] = "MPI_Type_get_value_index";
	if (gompi_type_props_get(value_type) == NULL)
		return gompi_not_a_datatype(value_type, call);
	if (gompi_type_props_get(index_type) == NULL)
		return gompi_not_a_datatype(index_type, call);
	if (pair_type == NULL)
		return gompi_null_argument_error(call, "pair_type", GOMPI_ON_NONE, 0);
	*pair_type = MPI_DATATYPE_NULL;
	for (int i = 0; i < PAIRS; i++)
		if (pairs[i].value == value_type && pairs[i].index == index_type)
			*pair_type = pairs[i].pair;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Type_get_value_index, gompi_type_get_value_index);

// The unnamed types that the application has requested, in a list by next_to_free, because they are never freed. The
// store to `newest` publishes a type.
static struct {
	struct gompi_biased_mutex lock;
	const struct gompi_type *_Atomic newest;
} unnamed;

static MPI_Datatype find_unnamed(int combiner, int p, int r) {
	// pairs with the release in create_unnamed
	const struct gompi_type *t = gompi_load_acquire(&unnamed.newest);
	for (; t != NULL; t = gompi_type_meta(t)->next_to_free) {
		const struct gompi_recipe *x = gompi_type_meta(t)->recipe;
		if (x->combiner == combiner && x->a == p && x->b == r)
			return (MPI_Datatype)gompi_type_meta(t)->handle;
	}
	return MPI_DATATYPE_NULL;
}

// Returns a new committed type with the layout of the predefined type `named`; NULL if out of memory.
static struct gompi_type *copy_of_named(MPI_Datatype named, int combiner, int p, int r) {
	const struct gompi_type *old = gompi_type_get(named);
	const struct gompi_recipe recipe = {.combiner = combiner, .a = p, .b = r};
	struct gompi_type *t = gompi_type_new(old->words, gompi_recipe_bytes(&recipe));
	if (t == NULL)
		return NULL;
	memcpy(t, old, (size_t)old->words * sizeof(int64_t));
	struct gompi_type_props *f = &gompi_type_meta(t)->props;
	*f = *gompi_type_props_of(old);
	f->combiner = combiner;
	f->integers = combiner == MPI_COMBINER_F90_INTEGER ? 1 : 2;
	gompi_recipe_store(&recipe, t, old->words);
	return t;
}

static int create_unnamed(const char *call, int combiner, int p, int r, MPI_Datatype *newtype) {
	if (newtype == NULL)
		return gompi_null_argument_error(call, "newtype", GOMPI_ON_NONE, 0);
	MPI_Datatype type = find_unnamed(combiner, p, r), named = MPI_DATATYPE_NULL;
	if (type != MPI_DATATYPE_NULL) {
		*newtype = type;
		return MPI_SUCCESS;
	}
	int rc = gompi_go_callbacks.f90_kind(call, combiner, p, r, &named);
	if (named == MPI_DATATYPE_NULL) // an error handler may have changed the result to MPI_SUCCESS
		return rc;
	struct gompi_type *t = copy_of_named(named, combiner, p, r);
	uintptr_t handle = t != NULL ? gompi_type_add_handle(t) : 0;
	if (handle == 0)
		return gompi_return_error(MPI_ERR_NO_MEM, call, gompi_no_memory_text("cannot create a datatype"),
					  GOMPI_ON_NONE, 0);
	gompi_biased_lock(&unnamed.lock);
	type = find_unnamed(combiner, p, r);
	if (type == MPI_DATATYPE_NULL) {
		gompi_type_meta(t)->next_to_free = gompi_load(&unnamed.newest);
		gompi_store_release(&unnamed.newest, t); // pairs with the acquire in find_unnamed
	}
	gompi_biased_unlock(&unnamed.lock);
	if (type != MPI_DATATYPE_NULL) // another thread has created the type
		gompi_type_remove(handle);
	*newtype = type != MPI_DATATYPE_NULL ? type : (MPI_Datatype)handle;
	return MPI_SUCCESS;
}

int gompi_type_create_f90_integer(int r, MPI_Datatype *newtype) {
	return create_unnamed("MPI_Type_create_f90_integer", MPI_COMBINER_F90_INTEGER, 0, r, newtype);
}
GOMPI_ENTRY(MPI_Type_create_f90_integer, gompi_type_create_f90_integer);

int gompi_type_create_f90_real(int p, int r, MPI_Datatype *newtype) {
	return create_unnamed("MPI_Type_create_f90_real", MPI_COMBINER_F90_REAL, p, r, newtype);
}
GOMPI_ENTRY(MPI_Type_create_f90_real, gompi_type_create_f90_real);

int gompi_type_create_f90_complex(int p, int r, MPI_Datatype *newtype) {
	return create_unnamed("MPI_Type_create_f90_complex", MPI_COMBINER_F90_COMPLEX, p, r, newtype);
}
GOMPI_ENTRY(MPI_Type_create_f90_complex, gompi_type_create_f90_complex);
