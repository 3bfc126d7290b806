#include "file/datarep.h"

#include <limits.h>
#include <stdlib.h>

#include "base/minmax.h"
#include "datatype/recipe.h"
#include "datatype/type_props.h"
#include "datatype/z_calls.h"
#include "file/transfer.h"
#include "file/types.h"
#include "file/z_calls.h"
#include "pack/convert.h"

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
	if (rep == &external32) {
		*extent = gompi_type_props_get(type)->external_bytes;
		return MPI_SUCCESS;
	}
	int rc = rep->extent(type, extent, rep->extra_state);
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

// Makes an uncommitted type that describes data of a type of the application in the file. For a predefined type, this
// is as many MPI_BYTE as an element has in the file. Any other type is constructed again with the same arguments, from
// types that describe its component types in the file. Returns MPI_SUCCESS or the error class in v.
static int make_file_type(const struct gompi_datarep *rep, const struct gompi_type *t, MPI_Datatype *made,
			  struct gompi_error_status *v) {
	struct gompi_recipe r;
	MPI_Datatype byte = MPI_BYTE, *types = NULL;
	int64_t n = 0;
	int rc;
	uintptr_t handle;
	if (gompi_type_is_basic(t)) {
		MPI_Aint extent;
		rc = extent_in_file(rep, (MPI_Datatype)t->elem, &extent, v);
		r = (struct gompi_recipe){
			.combiner = MPI_COMBINER_CONTIGUOUS, .n = extent, .type_count = 1, .types = &byte};
	} else {
		const struct gompi_recipe *stored = gompi_type_meta(t)->recipe;
		types = calloc((size_t)stored->type_count + 1, sizeof *types);
		rc = types != NULL ? MPI_SUCCESS
				   : gompi_set_error(v, MPI_ERR_NO_MEM,
						     "out of memory for a datatype in the data representation \"%s\"",
						     rep->name);
		while (rc == MPI_SUCCESS && n < stored->type_count) {
			rc = make_file_type(rep, gompi_recipe_type(stored, n), &types[n], v);
			n += rc == MPI_SUCCESS;
		}
		r = *stored;
		r.is_stored = false;
		r.types = types;
	}
	r.call = "MPI_File_set_view";
	if (rc == MPI_SUCCESS && (rc = gompi_recipe_new(&r, &handle, v)) == MPI_SUCCESS)
		*made = (MPI_Datatype)handle;
	while (n-- > 0)
		gompi_type_free(&types[n]);
	free(types);
	return rc;
}

int gompi_datarep_file_type(const struct gompi_datarep *rep, MPI_Datatype type, MPI_Datatype *in_file,
			    struct gompi_error_status *v) {
	if (make_file_type(rep, gompi_type_get_any(type), in_file, v) != MPI_SUCCESS)
		return v->class;
	gompi_type_commit(in_file);
	return MPI_SUCCESS;
}

// An amount of data. An item is an element of a predefined type; a pair type has one item.
struct amount {
	int64_t items, native_bytes, file_bytes;
	bool is_cut; // the next item does not fit
};

// Adds the items of count copies of a type to *a, in typemap order, as long as a->file_bytes is at most `limit`.
// Returns MPI_SUCCESS or the error class in v.
static int add_items(const struct gompi_datarep *rep, const struct gompi_type *t, int64_t count, int64_t limit,
		     struct amount *a, struct gompi_error_status *v) {
	const bool is_basic = gompi_type_is_basic(t);
	const int64_t components = is_basic ? 0 : gompi_type_meta(t)->recipe->type_count;
	struct amount one = {0};
	int64_t n, whole = count;
	int rc = MPI_SUCCESS;
	if (count == 0)
		return rc;
	if (is_basic) {
		MPI_Aint extent;
		if ((rc = extent_in_file(rep, (MPI_Datatype)t->elem, &extent, v)) == MPI_SUCCESS)
			one = (struct amount){t->size > 0, t->size, extent, false};
	}
	for (int64_t i = 0; i < components && !one.is_cut && rc == MPI_SUCCESS; i++) {
		const struct gompi_type *old = gompi_type_component(t, i, &n);
		rc = add_items(rep, old, n, INT64_MAX, &one, v);
	}
	if (rc != MPI_SUCCESS)
		return rc;
	if (one.file_bytes > 0)
		whole = gompi_min_i64(count, (limit - a->file_bytes) / one.file_bytes);
	a->items += whole * one.items;
	a->native_bytes += whole * one.native_bytes;
	a->file_bytes += whole * one.file_bytes;
	a->is_cut = one.is_cut || (is_basic && whole < count);
	for (int64_t i = 0; i < components && whole < count && !a->is_cut && rc == MPI_SUCCESS; i++) {
		const struct gompi_type *old = gompi_type_component(t, i, &n);
		rc = add_items(rep, old, n, limit, a, v);
	}
	return rc;
}

int gompi_datarep_file_bytes(const struct gompi_file *f, MPI_Datatype datatype, int64_t count, int64_t *bytes,
			     struct gompi_error_status *v) {
	struct amount all = {0};
	if (add_items(f->view.datarep, gompi_type_get(datatype), count, INT64_MAX, &all, v) != MPI_SUCCESS)
		return v->class;
	if (all.is_cut)
		return gompi_set_error(v, MPI_ERR_COUNT, "%lld elements need more than 2^63 - 1 bytes in the file",
				       (long long)count);
	*bytes = all.file_bytes;
	return MPI_SUCCESS;
}

// Converts the first `bytes` bytes at in_file, which have the form of the file. A write converts from memory to
// in_file, a read from in_file to memory. An incomplete item at the end is not converted. Stores in *native_bytes how
// many bytes the converted data has in memory.
static int convert(const struct gompi_file_transfer_desc *d, int64_t bytes, char *in_file, int64_t *native_bytes,
		   struct gompi_error_status *v) {
	const struct gompi_datarep *rep = d->f->view.datarep;
	const struct gompi_type *t = gompi_type_get(d->datatype);
	const bool is_external = rep == &external32;
	const int swap_unit = is_external ? gompi_type_props_of(t)->swap_unit_bytes : 1;
	void *memory = (void *)(uintptr_t)d->buf;
	if (is_external && swap_unit == 0)
		return gompi_external_convert(v, t, d->count, memory, in_file, bytes, d->write, native_bytes);
	if (is_external || (d->write ? rep->write.large : rep->read.large) == NULL) {
		if (d->bytes != d->b.size)
			return gompi_set_error(v, MPI_ERR_CONVERSION,
					       "the data representation \"%s\" has no %s conversion function, but its "
					       "extents differ from the extents in memory",
					       rep->name, d->write ? "write" : "read");
		*native_bytes = bytes - bytes % swap_unit;
		if (d->write)
			gompi_buffer_pack(&d->b, in_file, 0, bytes);
		if (is_external)
			gompi_swap_bytes(in_file, in_file, *native_bytes, swap_unit);
		if (!d->write)
			gompi_buffer_unpack(&d->b, 0, in_file, *native_bytes);
		return MPI_SUCCESS;
	}
	struct amount a = {0};
	int rc = add_items(rep, t, d->count, bytes, &a, v);
	*native_bytes = a.native_bytes;
	if (rc != MPI_SUCCESS || a.items == 0)
		return rc;
	// the count of a conversion function is in items (MPI-5.0 14.5.3)
	if (rep->is_large)
		rc = (d->write ? rep->write.large : rep->read.large)(memory, d->datatype, a.items, in_file, 0,
								     rep->extra_state);
	else if (a.items > INT_MAX)
		return gompi_set_error(v, MPI_ERR_COUNT,
				       "the data has %lld items, but the conversion functions of the data "
				       "representation \"%s\" have int counts: register them with "
				       "MPI_Register_datarep_c",
				       (long long)a.items, rep->name);
	else
		rc = (d->write ? rep->write.small : rep->read.small)(memory, d->datatype, (int)a.items, in_file, 0,
								     rep->extra_state);
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
	int64_t native_bytes = 0, moved = 0;
	int rc = d->write ? convert(d, d->bytes, in_file, &native_bytes, v) : MPI_SUCCESS;
	if (rc == MPI_SUCCESS)
		rc = gompi_file_transfer(d->f, d->write, d->pos, &b, d->bytes, &moved, v);
	if (!d->write && moved > 0 && rc == MPI_SUCCESS)
		rc = convert(d, moved, in_file, &native_bytes, v);
	// after an error, a write may have transferred less
	if (rc == MPI_SUCCESS)
		*done = native_bytes;
	free(in_file);
	return rc;
}
