// Size, extent and true extent of datatypes (MPI-5.0 5.1.5, 5.1.7 and 5.1.8), which need not be committed. No function
// blocks, communicates or calls Go. Also determines whether the entries of committed types overlap.
#include "datatype/type_props.h"

#include "base/error_status.h"
#include "datatype/z_calls.h"

int gompi_not_a_datatype(MPI_Datatype datatype, const char *call) {
	struct gompi_error_status v;
	if (datatype == MPI_DATATYPE_NULL)
		gompi_set_error(&v, MPI_ERR_TYPE, "the datatype is MPI_DATATYPE_NULL");
	else
		gompi_set_error(&v, MPI_ERR_TYPE, "%#llx is not a datatype, or has been freed",
				(unsigned long long)(uintptr_t)datatype);
	return gompi_return_error(v.class, call, v.text, GOMPI_ON_NONE, 0);
}

int gompi_type_size(MPI_Datatype datatype, int *size) {
	const struct gompi_type_props *f = gompi_type_props_get(datatype);
	if (f == NULL)
		return gompi_not_a_datatype(datatype, "MPI_Type_size");
	if (size == NULL)
		return gompi_null_argument_error("MPI_Type_size", "size", GOMPI_ON_NONE, 0);
	*size = gompi_as_int(f->size);
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Type_size, gompi_type_size);

static inline int type_size(const char *call, MPI_Datatype datatype, MPI_Count *size) {
	const struct gompi_type_props *f = gompi_type_props_get(datatype);
	if (f == NULL)
		return gompi_not_a_datatype(datatype, call);
	if (size == NULL)
		return gompi_null_argument_error(call, "size", GOMPI_ON_NONE, 0);
	*size = f->size;
	return MPI_SUCCESS;
}

int gompi_type_size_c(MPI_Datatype datatype, MPI_Count *size) { return type_size("MPI_Type_size", datatype, size); }
GOMPI_ENTRY(MPI_Type_size_c, gompi_type_size_c);

int gompi_type_size_x(MPI_Datatype datatype, MPI_Count *size) { return type_size("MPI_Type_size_x", datatype, size); }
GOMPI_ENTRY(MPI_Type_size_x, gompi_type_size_x);

// Stores the lower bound and the extent or, if is_true is set, the true lower bound and the true extent. MPI_Aint and
// MPI_Count are the same type.
static inline int extent(const char *call, bool is_true, MPI_Datatype datatype, int64_t *lb, int64_t *length) {
	const struct gompi_type_props *f = gompi_type_props_get(datatype);
	if (f == NULL)
		return gompi_not_a_datatype(datatype, call);
	if (lb == NULL || length == NULL)
		return gompi_null_argument_error(call, "lb or extent", GOMPI_ON_NONE, 0);
	*lb = is_true ? f->true_lb : f->lb;
	*length = is_true ? f->true_extent : f->extent;
	return MPI_SUCCESS;
}

int gompi_type_get_extent(MPI_Datatype datatype, MPI_Aint *lb, MPI_Aint *length) {
	return extent("MPI_Type_get_extent", false, datatype, lb, length);
}
GOMPI_ENTRY(MPI_Type_get_extent, gompi_type_get_extent);

int gompi_type_get_extent_c(MPI_Datatype datatype, MPI_Count *lb, MPI_Count *length) {
	return extent("MPI_Type_get_extent", false, datatype, lb, length);
}
GOMPI_ENTRY(MPI_Type_get_extent_c, gompi_type_get_extent_c);

int gompi_type_get_extent_x(MPI_Datatype datatype, MPI_Count *lb, MPI_Count *length) {
	return extent("MPI_Type_get_extent_x", false, datatype, lb, length);
}
GOMPI_ENTRY(MPI_Type_get_extent_x, gompi_type_get_extent_x);

int gompi_type_get_true_extent(MPI_Datatype datatype, MPI_Aint *lb, MPI_Aint *length) {
	return extent("MPI_Type_get_true_extent", true, datatype, lb, length);
}
GOMPI_ENTRY(MPI_Type_get_true_extent, gompi_type_get_true_extent);

int gompi_type_get_true_extent_c(MPI_Datatype datatype, MPI_Count *lb, MPI_Count *length) {
	return extent("MPI_Type_get_true_extent", true, datatype, lb, length);
}
GOMPI_ENTRY(MPI_Type_get_true_extent_c, gompi_type_get_true_extent_c);

int gompi_type_get_true_extent_x(MPI_Datatype datatype, MPI_Count *lb, MPI_Count *length) {
	return extent("MPI_Type_get_true_extent_x", true, datatype, lb, length);
}
GOMPI_ENTRY(MPI_Type_get_true_extent_x, gompi_type_get_true_extent_x);

bool gompi_type_overlaps(const struct gompi_type *t, int64_t count) {
	if (t->flags & GOMPI_TYPE_OVERLAP)
		return true;
	uint64_t copies = t->extent < 0 ? -(uint64_t)t->extent : (uint64_t)t->extent;
	if (count <= 1 || copies >= (uint64_t)(t->true_ub - t->true_lb))
		return false;
	if (!(t->flags & GOMPI_TYPE_STRIDED))
		return true;
	// Copies may be in each other's gaps, like the columns of a matrix. The blocks then repeat at two distances.
	// They do not overlap if the larger distance spans all blocks that repeat at the smaller distance.
	uint64_t blocks = t->stride < 0 ? -(uint64_t)t->stride : (uint64_t)t->stride, block = (uint64_t)t->block;
	return copies < blocks ? copies < block || blocks - block < (uint64_t)(count - 1) * copies
			       : blocks < block || copies - block < (uint64_t)(t->repeat - 1) * blocks;
}
