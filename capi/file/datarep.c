#include "file/datarep.h"

#include <limits.h>
#include <stdlib.h>

#include "base/minmax.h"
#include "datatype/type_props.h"
#include "datatype/z_calls.h"
#include "file/transfer.h"
#include "file/types.h"
#include "file/z_calls.h"
#include "pack/z_calls.h"

struct gompi_datarep {
	struct gompi_datarep *next;
	char name[MPI_MAX_DATAREP_STRING];
	bool is_large; // the conversion functions have the form with MPI_Count
	union {
		MPI_Datarep_conversion_function *small;
		MPI_Datarep_conversion_function_c *large;
	} read, write; // NULL if memory and file have the same form in that direction
	MPI_Datarep_extent_function *extent;
	void *extra_state;
};

static struct gompi_datarep external32 = {.name = "external32"};
// The representations that the application has registered. They exist until the end of the process.
static struct gompi_datarep *_Atomic registered;
static struct gompi_mutex register_mutex; // held while a representation is added

const struct gompi_datarep *gompi_datarep_find(const char *name, bool *is_native) {
	*is_native = strcmp(name, "native") == 0 || strcmp(name, "internal") == 0;
	if (strcmp(name, external32.name) == 0)
		return &external32;
	for (struct gompi_datarep *r = gompi_load_acquire(&registered); r != NULL && !*is_native; r = r->next)
		if (strcmp(name, r->name) == 0)
			return r;
	return NULL;
}

static int register_datarep(const char *call, const char *name, struct gompi_datarep r) {
	struct gompi_error_status v = {.class = MPI_SUCCESS};
	bool is_native;
	struct gompi_datarep *added = NULL;
	if (name == NULL || *name == 0 || strlen(name) >= MPI_MAX_DATAREP_STRING)
		gompi_set_error(&v, MPI_ERR_ARG,
				"the name of the data representation is %s; it must have 1 to %d characters",
				name == NULL ? "NULL"
				: *name == 0 ? "empty"
					     : "too long",
				MPI_MAX_DATAREP_STRING - 1);
	else if (r.extent == NULL)
		gompi_set_error(&v, MPI_ERR_ARG,
				"dtype_file_extent_fn is NULL; a data representation needs this function");
	else if ((added = malloc(sizeof *added)) == NULL)
		gompi_set_error(&v, MPI_ERR_NO_MEM, "out of memory for a data representation");
	if (v.class == MPI_SUCCESS) {
		gompi_mutex_lock(&register_mutex);
		if (gompi_datarep_find(name, &is_native) != NULL || is_native) {
			gompi_set_error(&v, MPI_ERR_DUP_DATAREP,
					"the data representation \"%s\" has already been registered", name);
			free(added);
		} else {
			*added = r;
			added->next = gompi_load(&registered);
			strcpy(added->name, name);
			gompi_store_release(&registered, added); // pairs with the acquire in gompi_datarep_find
		}
		gompi_mutex_unlock(&register_mutex);
	}
	return v.class == MPI_SUCCESS ? MPI_SUCCESS : gompi_file_raise(MPI_FILE_NULL, call, &v);
}

int gompi_register_datarep(const char *datarep, MPI_Datarep_conversion_function *read_conversion_fn,
			   MPI_Datarep_conversion_function *write_conversion_fn,
			   MPI_Datarep_extent_function *dtype_file_extent_fn, void *extra_state) {
	return register_datarep("MPI_Register_datarep", datarep,
				(struct gompi_datarep){.read.small = read_conversion_fn,
						       .write.small = write_conversion_fn,
						       .extent = dtype_file_extent_fn,
						       .extra_state = extra_state});
}
GOMPI_ENTRY(MPI_Register_datarep, gompi_register_datarep);

int gompi_register_datarep_c(const char *datarep, MPI_Datarep_conversion_function_c *read_conversion_fn,
			     MPI_Datarep_conversion_function_c *write_conversion_fn,
			     MPI_Datarep_extent_function *dtype_file_extent_fn, void *extra_state) {
	return register_datarep("MPI_Register_datarep_c", datarep,
				(struct gompi_datarep){.is_large = true,
						       .read.large = read_conversion_fn,
						       .write.large = write_conversion_fn,
						       .extent = dtype_file_extent_fn,
						       .extra_state = extra_state});
}
GOMPI_ENTRY(MPI_Register_datarep_c, gompi_register_datarep_c);

static int conversion_error(const struct gompi_datarep *rep, const char *function, int code,
			    struct gompi_error_status *v) {
	return gompi_set_error(v, MPI_ERR_CONVERSION,
			       "the %s function of the data representation \"%s\" returned error %d", function,
			       rep->name, code);
}

// Stores in *extent the number of bytes that an element of a predefined type has in the file.
static int extent_in_file(const struct gompi_datarep *rep, MPI_Datatype type, MPI_Aint *extent,
			  struct gompi_error_status *v) {
	int rc = rep == &external32 ? gompi_pack_external_size(external32.name, 1, type, extent)
				    : rep->extent(type, extent, rep->extra_state);
	if (rc != MPI_SUCCESS)
		return conversion_error(rep, "extent", rc, v);
	const int64_t size = gompi_type_get_any(type)->size;
	if (*extent < 0 || (*extent == 0 && size > 0))
		return gompi_set_error(v, MPI_ERR_CONVERSION,
				       "the extent function of the data representation \"%s\" returned the extent %lld "
				       "for a datatype; an extent must be positive, or 0 for a datatype of 0 bytes",
				       rep->name, (long long)*extent);
	return MPI_SUCCESS;
}

// The arguments from which a type was constructed.
struct contents {
	MPI_Count integer_count, address_count, count_count, type_count;
	int combiner;
	int *integers;
	MPI_Aint *addresses;
	MPI_Count *counts;
	MPI_Datatype *types;
};

static void free_contents(struct contents *c) {
	for (MPI_Count i = 0; c->types != NULL && i < c->type_count; i++)
		if (gompi_type_props_get(c->types[i]) != NULL)
			gompi_file_type_free(&c->types[i]);
	free(c->integers), free(c->addresses), free(c->counts), free(c->types);
}

static bool read_contents(MPI_Datatype type, struct contents *c) {
	*c = (struct contents){0};
	if (gompi_type_get_envelope_c(type, &c->integer_count, &c->address_count, &c->count_count, &c->type_count,
				      &c->combiner) != MPI_SUCCESS)
		return false;
	c->integers = calloc((size_t)c->integer_count + 1, sizeof *c->integers);
	c->addresses = calloc((size_t)c->address_count + 1, sizeof *c->addresses);
	c->counts = calloc((size_t)c->count_count + 1, sizeof *c->counts);
	c->types = calloc((size_t)c->type_count + 1, sizeof *c->types);
	return c->integers != NULL && c->addresses != NULL && c->counts != NULL && c->types != NULL &&
	       gompi_type_get_contents_c(type, c->integer_count, c->address_count, c->count_count, c->type_count,
					 c->integers, c->addresses, c->counts, c->types) == MPI_SUCCESS;
}

// Constructs a type from the arguments in c, but from the datatypes `types` instead of those in c.
static int construct_again(const struct contents *c, const MPI_Datatype *types, MPI_Datatype *made) {
	const int *i = c->integers;
	const MPI_Aint *a = c->addresses;
	const MPI_Count *n = c->counts;
	bool large = c->count_count > 0;
	switch (c->combiner) {
	case MPI_COMBINER_DUP:
		return gompi_type_contiguous(1, types[0], made);
	case MPI_COMBINER_CONTIGUOUS:
		return large ? gompi_type_contiguous_c(n[0], types[0], made)
			     : gompi_type_contiguous(i[0], types[0], made);
	case MPI_COMBINER_VECTOR:
		return large ? gompi_type_vector_c(n[0], n[1], n[2], types[0], made)
			     : gompi_type_vector(i[0], i[1], i[2], types[0], made);
	case MPI_COMBINER_HVECTOR:
		return large ? gompi_type_create_hvector_c(n[0], n[1], n[2], types[0], made)
			     : gompi_type_create_hvector(i[0], i[1], a[0], types[0], made);
	case MPI_COMBINER_INDEXED:
		return large ? gompi_type_indexed_c(n[0], n + 1, n + 1 + n[0], types[0], made)
			     : gompi_type_indexed(i[0], i + 1, i + 1 + i[0], types[0], made);
	case MPI_COMBINER_HINDEXED:
		return large ? gompi_type_create_hindexed_c(n[0], n + 1, n + 1 + n[0], types[0], made)
			     : gompi_type_create_hindexed(i[0], i + 1, a, types[0], made);
	case MPI_COMBINER_INDEXED_BLOCK:
		return large ? gompi_type_create_indexed_block_c(n[0], n[1], n + 2, types[0], made)
			     : gompi_type_create_indexed_block(i[0], i[1], i + 2, types[0], made);
	case MPI_COMBINER_HINDEXED_BLOCK:
		return large ? gompi_type_create_hindexed_block_c(n[0], n[1], n + 2, types[0], made)
			     : gompi_type_create_hindexed_block(i[0], i[1], a, types[0], made);
	case MPI_COMBINER_STRUCT:
		return large ? gompi_type_create_struct_c(n[0], n + 1, n + 1 + n[0], types, made)
			     : gompi_type_create_struct(i[0], i + 1, a, types, made);
	case MPI_COMBINER_SUBARRAY:
		return large ? gompi_type_create_subarray_c(i[0], n, n + i[0], n + 2 * i[0], i[1], types[0], made)
			     : gompi_type_create_subarray(i[0], i + 1, i + 1 + i[0], i + 1 + 2 * i[0], i[1 + 3 * i[0]],
							  types[0], made);
	case MPI_COMBINER_DARRAY:
		return large ? gompi_type_create_darray_c(i[0], i[1], i[2], n, i + 3, i + 3 + i[2], i + 3 + 2 * i[2],
							  i[3 + 3 * i[2]], types[0], made)
			     : gompi_type_create_darray(i[0], i[1], i[2], i + 3, i + 3 + i[2], i + 3 + 2 * i[2],
							i + 3 + 3 * i[2], i[3 + 4 * i[2]], types[0], made);
	case MPI_COMBINER_RESIZED:
		return large ? gompi_type_create_resized_c(types[0], n[0], n[1], made)
			     : gompi_type_create_resized(types[0], a[0], a[1], made);
	default:
		return MPI_ERR_TYPE;
	}
}

// Makes an uncommitted type that describes data of a type of the application in the file. For a predefined type, this
// is as many MPI_BYTE as an element has in the file. Any other type is constructed again with the same arguments, from
// types that describe its component types in the file.
static int make_file_type(const struct gompi_datarep *rep, MPI_Datatype type, MPI_Datatype *made,
			  struct gompi_error_status *v) {
	*made = MPI_DATATYPE_NULL;
	if (gompi_type_is_library_owned(gompi_type_props_get(type))) {
		MPI_Aint extent;
		if (extent_in_file(rep, type, &extent, v) != MPI_SUCCESS)
			return v->class;
		gompi_type_contiguous_c(extent, MPI_BYTE, made);
	} else {
		struct contents c;
		MPI_Datatype *types = NULL;
		int rc = MPI_SUCCESS;
		if (read_contents(type, &c) && (types = calloc((size_t)c.type_count + 1, sizeof *types)) != NULL) {
			MPI_Count n = 0;
			for (; n < c.type_count && rc == MPI_SUCCESS; n++)
				rc = make_file_type(rep, c.types[n], &types[n], v);
			if (rc == MPI_SUCCESS)
				construct_again(&c, types, made);
			for (MPI_Count i = 0; i < n; i++)
				if (types[i] != MPI_DATATYPE_NULL)
					gompi_type_free(&types[i]);
		}
		free(types);
		free_contents(&c);
		if (rc != MPI_SUCCESS)
			return rc;
	}
	return *made != MPI_DATATYPE_NULL
		       ? MPI_SUCCESS
		       : gompi_set_error(v, MPI_ERR_NO_MEM,
					 "out of memory for a datatype in the data representation \"%s\"", rep->name);
}

int gompi_datarep_file_type(const struct gompi_datarep *rep, MPI_Datatype type, MPI_Datatype *in_file,
			    struct gompi_error_status *v) {
	if (make_file_type(rep, type, in_file, v) != MPI_SUCCESS)
		return v->class;
	gompi_type_commit(in_file);
	return MPI_SUCCESS;
}

int gompi_datarep_file_bytes(const struct gompi_file *f, MPI_Datatype datatype, int64_t count, int64_t *bytes,
			     struct gompi_error_status *v) {
	MPI_Datatype in_file;
	MPI_Aint extent;
	*bytes = 0;
	if (count == 0 || gompi_type_get(datatype)->size == 0)
		return MPI_SUCCESS;
	if (gompi_type_is_library_owned(gompi_type_props_get(datatype))) {
		if (extent_in_file(f->view.datarep, datatype, &extent, v) != MPI_SUCCESS)
			return v->class;
		*bytes = extent;
	} else {
		if (gompi_datarep_file_type(f->view.datarep, datatype, &in_file, v) != MPI_SUCCESS)
			return v->class;
		*bytes = gompi_type_get(in_file)->size;
		gompi_type_free(&in_file);
	}
	if (__builtin_mul_overflow(*bytes, count, bytes))
		return gompi_set_error(v, MPI_ERR_COUNT, "%lld elements need more than 2^63 - 1 bytes in the file",
				       (long long)count);
	return MPI_SUCCESS;
}

// Converts count copies of the datatype between memory and the buffer in_file, which has the form of the file. A write
// converts from memory to in_file, a read from in_file to memory.
static int convert(const struct gompi_file_transfer_desc *d, int64_t count, char *in_file,
		   struct gompi_error_status *v) {
	const struct gompi_datarep *rep = d->f->view.datarep;
	MPI_Count position = 0;
	void *memory = (void *)(uintptr_t)d->buf;
	int rc;
	if (rep == &external32) {
		rc = d->write ? gompi_pack_external_c(rep->name, memory, count, d->datatype, in_file, d->bytes,
						      &position)
			      : gompi_unpack_external_c(rep->name, in_file, d->bytes, &position, memory, count,
							d->datatype);
	} else if ((d->write ? rep->write.large : rep->read.large) == NULL) {
		if (d->bytes != d->b.size)
			return gompi_set_error(v, MPI_ERR_CONVERSION,
					       "the data representation \"%s\" has no %s conversion function, but its "
					       "extents differ from the extents in memory",
					       rep->name, d->write ? "write" : "read");
		const int64_t bytes = count * (d->b.size / d->count);
		if (d->write)
			gompi_buffer_pack(&d->b, in_file, 0, bytes);
		else
			gompi_buffer_unpack(&d->b, 0, in_file, bytes);
		rc = MPI_SUCCESS;
	} else if (rep->is_large) {
		rc = (d->write ? rep->write.large : rep->read.large)(memory, d->datatype, count, in_file, 0,
								     rep->extra_state);
	} else if (count > INT_MAX) {
		return gompi_set_error(v, MPI_ERR_COUNT,
				       "count is %lld, but the conversion functions of the data representation \"%s\" "
				       "have int counts: register them with MPI_Register_datarep_c",
				       (long long)count, rep->name);
	} else {
		rc = (d->write ? rep->write.small : rep->read.small)(memory, d->datatype, (int)count, in_file, 0,
								     rep->extra_state);
	}
	return rc == MPI_SUCCESS ? rc : conversion_error(rep, d->write ? "write conversion" : "read conversion", rc, v);
}

int gompi_datarep_transfer(struct gompi_file_transfer_desc *d, int64_t *done, struct gompi_error_status *v) {
	*done = 0;
	if (d->bytes == 0)
		return MPI_SUCCESS;
	char *in_file = calloc(1, (size_t)d->bytes); // zeroed: a conversion function may leave gaps
	if (in_file == NULL)
		return gompi_set_error(v, MPI_ERR_NO_MEM,
				       "out of memory for %lld bytes in the data representation \"%s\"",
				       (long long)d->bytes, d->f->view.datarep_name);
	struct gompi_buffer b = {.at = in_file, .size = d->bytes};
	int rc = d->write ? convert(d, d->count, in_file, v) : MPI_SUCCESS;
	int64_t moved = 0;
	if (rc == MPI_SUCCESS)
		rc = gompi_file_transfer(d->f, d->write, d->pos, &b, d->bytes, &moved, v);
	// Only whole copies of the datatype are converted.
	int64_t copies = moved / (d->bytes / d->count);
	if (!d->write && copies > 0 && rc == MPI_SUCCESS)
		rc = convert(d, copies, in_file, v);
	*done = copies * (d->b.size / d->count);
	free(in_file);
	return rc;
}
