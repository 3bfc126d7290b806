// Look-up of types that the library owns (MPI-5.0 6.9.4, 19.1.9). Errors are raised on MPI_COMM_SELF. No function
// blocks or communicates. Go creates an unnamed type (MPI_Type_create_f90_integer, _real, _complex) at its first
// request.
#include "base/biased_mutex.h"
#include "base/go_callbacks.h"
#include "base/error_status.h"
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

int gompi_type_get_value_index(MPI_Datatype value_type, MPI_Datatype index_type, MPI_Datatype *pair_type) {
	static const char call[] = "MPI_Type_get_value_index";
	static const struct {
		MPI_Datatype pair, value, index;
	} pairs[] = {{MPI_FLOAT_INT, MPI_FLOAT, MPI_INT},
		     {MPI_DOUBLE_INT, MPI_DOUBLE, MPI_INT},
		     {MPI_LONG_INT, MPI_LONG, MPI_INT},
		     {MPI_2INT, MPI_INT, MPI_INT},
		     {MPI_SHORT_INT, MPI_SHORT, MPI_INT},
		     {MPI_LONG_DOUBLE_INT, MPI_LONG_DOUBLE, MPI_INT},
		     {MPI_2REAL, MPI_REAL, MPI_REAL},
		     {MPI_2DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION},
		     {MPI_2INTEGER, MPI_INTEGER, MPI_INTEGER},
		     {TWO_INTEGER8, MPI_INTEGER8, MPI_INTEGER8}};
	if (gompi_type_props_get(value_type) == NULL)
		return gompi_not_a_datatype(value_type, call);
	if (gompi_type_props_get(index_type) == NULL)
		return gompi_not_a_datatype(index_type, call);
	if (pair_type == NULL)
		return gompi_null_argument_error(call, "pair_type", GOMPI_ON_NONE, 0);
	*pair_type = MPI_DATATYPE_NULL;
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
		if (pairs[i].value == value_type && pairs[i].index == index_type)
			*pair_type = pairs[i].pair;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Type_get_value_index, gompi_type_get_value_index);

// Cache of the unnamed types that the application has requested. When the cache is full, every request for another type
// calls Go. The store to `count` publishes the entries.
enum { MAX_UNNAMED = 64 };
static struct {
	struct gompi_biased_mutex lock;
	gompi_a32 count;
	struct {
		int combiner, p, r;
		MPI_Datatype type;
	} entry[MAX_UNNAMED];
} unnamed;

static MPI_Datatype find_unnamed(int combiner, int p, int r) {
	uint32_t n = gompi_load_acquire(&unnamed.count); // pairs with the release in create_unnamed
	for (uint32_t i = 0; i < n; i++)
		if (unnamed.entry[i].combiner == combiner && unnamed.entry[i].p == p && unnamed.entry[i].r == r)
			return unnamed.entry[i].type;
	return MPI_DATATYPE_NULL;
}

static int create_unnamed(const char *call, int combiner, int p, int r, MPI_Datatype *newtype) {
	MPI_Datatype type = newtype != NULL ? find_unnamed(combiner, p, r) : MPI_DATATYPE_NULL;
	if (type != MPI_DATATYPE_NULL) {
		*newtype = type;
		return MPI_SUCCESS;
	}
	int rc = gompi_go_callbacks.create_f90(call, combiner, p, r, &type);
	if (type == MPI_DATATYPE_NULL || newtype == NULL)
		return newtype == NULL && rc == MPI_SUCCESS
			       ? gompi_null_argument_error(call, "newtype", GOMPI_ON_NONE, 0)
			       : rc;
	*newtype = type;
	gompi_biased_lock(&unnamed.lock);
	uint32_t n = gompi_load(&unnamed.count);
	if (n < MAX_UNNAMED && find_unnamed(combiner, p, r) == MPI_DATATYPE_NULL) {
		unnamed.entry[n].combiner = combiner;
		unnamed.entry[n].p = p;
		unnamed.entry[n].r = r;
		unnamed.entry[n].type = type;
		gompi_store_release(&unnamed.count, n + 1); // pairs with the acquire in find_unnamed
	}
	gompi_biased_unlock(&unnamed.lock);
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
