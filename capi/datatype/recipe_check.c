// Finds the error in the arguments of a constructor.
#include "datatype/recipe.h"

#include <stdio.h>

#include "datatype/type_props.h"

static int check_recipe_type(const struct gompi_recipe *r, int64_t i, struct gompi_error_status *v) {
	const MPI_Datatype type = r->types[i];
	char where[48] = "";
	if (gompi_recipe_type(r, i) != NULL)
		return MPI_SUCCESS;
	if (r->combiner == MPI_COMBINER_STRUCT)
		snprintf(where, sizeof where, "array_of_types[%lld]: ", (long long)i);
	if (type == MPI_DATATYPE_NULL)
		return gompi_set_error(v, MPI_ERR_TYPE, "%sthe datatype is MPI_DATATYPE_NULL", where);
	return gompi_set_error(v, MPI_ERR_TYPE, "%s%#llx is not a datatype, or has been freed", where,
			       (unsigned long long)(uintptr_t)type);
}

// Checks the address and the length of a list whose elements have the given size.
static int check_recipe_list(const struct gompi_recipe *r, const char *name, const void *list, int64_t size,
			     struct gompi_error_status *v) {
	const int64_t address_space = INT64_C(1) << 47;
	if (r->n > 0 && list == NULL)
		return gompi_set_error(v, MPI_ERR_ARG, "%s is NULL, but must have %lld elements", name,
				       (long long)r->n);
	if (r->n > (address_space - (int64_t)((uintptr_t)list & (uintptr_t)(address_space - 1))) / size)
		return gompi_set_error(v, MPI_ERR_COUNT,
				       "%s: an array of %lld elements at %p exceeds the address space", name,
				       (long long)r->n, list);
	return MPI_SUCCESS;
}

static int check_recipe_lists(const struct gompi_recipe *r, struct gompi_error_status *v) {
	static const char *const of_blocks[] = {"array_of_blocklengths", "array_of_displacements"},
				 *const of_subarray[] = {"array_of_sizes", "array_of_subsizes", "array_of_starts"},
				 *const of_darray[] = {"array_of_gsizes", "array_of_distribs", "array_of_dargs",
						       "array_of_psizes"};
	const char *const *names = of_blocks;
	int first = gompi_recipe_has_same_lengths(r), end = 2, class = MPI_SUCCESS;
	switch (r->combiner) {
	case MPI_COMBINER_SUBARRAY:
		names = of_subarray;
		end = 3;
		break;
	case MPI_COMBINER_DARRAY:
		names = of_darray;
		end = 4;
		break;
	case MPI_COMBINER_CONTIGUOUS:
	case MPI_COMBINER_VECTOR:
	case MPI_COMBINER_HVECTOR:
	case MPI_COMBINER_RESIZED:
	case MPI_COMBINER_DUP:
		return MPI_SUCCESS;
	}
	if (r->n < 0 && names == of_blocks)
		return gompi_set_error(v, MPI_ERR_COUNT, "count is %lld; it must not be negative", (long long)r->n);
	for (int i = first; i < end && class == MPI_SUCCESS; i++)
		class = check_recipe_list(r, names[i], r->list[i], r->is_64bit[i] ? 8 : 4, v);
	return class;
}

static int negative_blocklength(const char *name, int64_t value, struct gompi_error_status *v) {
	return gompi_set_error(v, MPI_ERR_ARG, "%s is %lld; it must not be negative", name, (long long)value);
}

static int check_recipe_blocks(const struct gompi_recipe *r, struct gompi_error_status *v) {
	char name[64];
	if (gompi_recipe_has_same_lengths(r))
		return r->a < 0 ? negative_blocklength("blocklength", r->a, v) : MPI_SUCCESS;
	for (int64_t i = 0; i < r->n; i++) {
		if (gompi_recipe_at(r, 0, i) >= 0)
			continue;
		snprintf(name, sizeof name, "array_of_blocklengths[%lld]", (long long)i);
		return negative_blocklength(name, gompi_recipe_at(r, 0, i), v);
	}
	return MPI_SUCCESS;
}

static int check_recipe_dimensions(const struct gompi_recipe *r, struct gompi_error_status *v) {
	if (r->n < 1)
		return gompi_set_error(v, MPI_ERR_DIMS, "ndims is %lld; it must be positive", (long long)r->n);
	if (r->order != MPI_ORDER_C && r->order != MPI_ORDER_FORTRAN)
		return gompi_set_error(v, MPI_ERR_ARG, "order is %d; it must be MPI_ORDER_C or MPI_ORDER_FORTRAN",
				       r->order);
	return MPI_SUCCESS;
}

static int check_recipe_subarray(const struct gompi_recipe *r, struct gompi_error_status *v) {
	for (int64_t i = 0; i < r->n; i++) {
		long long size = gompi_recipe_at(r, 0, i), subsize = gompi_recipe_at(r, 1, i),
			  start = gompi_recipe_at(r, 2, i);
		if (size < 1)
			return gompi_set_error(v, MPI_ERR_ARG, "array_of_sizes[%lld] is %lld; it must be positive",
					       (long long)i, size);
		if (subsize < 1 || subsize > size)
			return gompi_set_error(
				v, MPI_ERR_ARG,
				"array_of_subsizes[%lld] is %lld; it must be from 1 to %lld (array_of_sizes)",
				(long long)i, subsize, size);
		if (start < 0 || start > size - subsize)
			return gompi_set_error(v, MPI_ERR_ARG,
					       "array_of_starts[%lld] is %lld; it must be from 0 to %lld (size %lld "
					       "minus subsize %lld)",
					       (long long)i, start, size - subsize, size, subsize);
	}
	return MPI_SUCCESS;
}

// Checks that the grid of a distributed array has r->a processes.
static int check_recipe_grid(const struct gompi_recipe *r, struct gompi_error_status *v) {
	int64_t product = 1;
	bool overflow = false;
	char list[200];
	int length = 0;
	for (int64_t i = 0; i < r->n; i++) {
		int64_t processes = gompi_recipe_at(r, 3, i);
		if (processes < 1)
			return gompi_set_error(v, MPI_ERR_ARG, "array_of_psizes[%lld] is %lld; it must be positive",
					       (long long)i, (long long)processes);
		overflow |= __builtin_mul_overflow(product, processes, &product);
		if (length < (int)sizeof list)
			length += snprintf(list + length, sizeof list - (size_t)length, i == 0 ? "%lld" : " %lld",
					   (long long)processes);
	}
	if (overflow || product != r->a)
		return gompi_set_error(v, MPI_ERR_DIMS,
				       "the product of array_of_psizes [%s] must be equal to size, which is %lld", list,
				       (long long)r->a);
	return MPI_SUCCESS;
}

// Checks the distribution of dimension i.
static int check_recipe_distribution(const struct gompi_recipe *r, int64_t i, struct gompi_error_status *v) {
	long long size = gompi_recipe_at(r, 0, i), distribution = gompi_recipe_at(r, 1, i),
		  block = gompi_recipe_at(r, 2, i), processes = gompi_recipe_at(r, 3, i), dimension = i;
	if (size < 1)
		return gompi_set_error(v, MPI_ERR_ARG, "array_of_gsizes[%lld] is %lld; it must be positive", dimension,
				       size);
	if (block != MPI_DISTRIBUTE_DFLT_DARG && distribution != MPI_DISTRIBUTE_NONE && block < 1)
		return gompi_set_error(v, MPI_ERR_ARG,
				       "array_of_dargs[%lld] is %lld; it must be positive or MPI_DISTRIBUTE_DFLT_DARG",
				       dimension, block);
	if (distribution == MPI_DISTRIBUTE_NONE && processes != 1)
		return gompi_set_error(v, MPI_ERR_ARG,
				       "dimension %lld is not distributed (MPI_DISTRIBUTE_NONE), but its entry in "
				       "array_of_psizes is %lld; it must be 1",
				       dimension, processes);
	if (distribution == MPI_DISTRIBUTE_BLOCK && block != MPI_DISTRIBUTE_DFLT_DARG &&
	    (size - 1) / block >= processes)
		return gompi_set_error(
			v, MPI_ERR_ARG,
			"dimension %lld has %lld elements, which do not fit into %lld blocks of %lld (one per process)",
			dimension, size, processes, block);
	if (distribution != MPI_DISTRIBUTE_NONE && distribution != MPI_DISTRIBUTE_BLOCK &&
	    distribution != MPI_DISTRIBUTE_CYCLIC)
		return gompi_set_error(v, MPI_ERR_ARG,
				       "array_of_distribs[%lld] is %lld, which is not an MPI_DISTRIBUTE_ constant",
				       dimension, distribution);
	return MPI_SUCCESS;
}

static int check_recipe_darray(const struct gompi_recipe *r, struct gompi_error_status *v) {
	if (r->a < 1)
		return gompi_set_error(v, MPI_ERR_ARG, "size is %lld; it must be positive", (long long)r->a);
	if (r->b < 0 || r->b >= r->a)
		return gompi_set_error(v, MPI_ERR_RANK, "rank is %lld; it must be from 0 to %lld", (long long)r->b,
				       (long long)r->a - 1);
	int class = check_recipe_grid(r, v);
	for (int64_t i = 0; i < r->n && class == MPI_SUCCESS; i++)
		class = check_recipe_distribution(r, i, v);
	return class;
}

int gompi_recipe_check(const struct gompi_recipe *r, struct gompi_error_status *v) {
	int class = MPI_SUCCESS;
	if (r->combiner != MPI_COMBINER_STRUCT)
		class = check_recipe_type(r, 0, v);
	if (class == MPI_SUCCESS)
		class = check_recipe_lists(r, v);
	if (class == MPI_SUCCESS && r->combiner == MPI_COMBINER_STRUCT)
		class = check_recipe_list(r, "array_of_types", r->types, 8, v);
	for (int64_t i = 0; class == MPI_SUCCESS && i < r->type_count; i++)
		class = check_recipe_type(r, i, v);
	if (class != MPI_SUCCESS)
		return class;
	switch (r->combiner) {
	case MPI_COMBINER_CONTIGUOUS:
	case MPI_COMBINER_VECTOR:
	case MPI_COMBINER_HVECTOR:
		if (r->n < 0)
			return gompi_set_error(v, MPI_ERR_COUNT, "count is %lld; it must not be negative",
					       (long long)r->n);
		return r->a < 0 ? negative_blocklength("blocklength", r->a, v) : MPI_SUCCESS;
	case MPI_COMBINER_SUBARRAY:
		class = check_recipe_dimensions(r, v);
		return class == MPI_SUCCESS ? check_recipe_subarray(r, v) : class;
	case MPI_COMBINER_DARRAY:
		class = check_recipe_dimensions(r, v);
		return class == MPI_SUCCESS ? check_recipe_darray(r, v) : class;
	case MPI_COMBINER_RESIZED:
	case MPI_COMBINER_DUP:
		return MPI_SUCCESS;
	}
	return check_recipe_blocks(r, v);
}
