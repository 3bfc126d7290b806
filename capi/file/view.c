#include "file/view.h"

#include "base/minmax.h"
#include "coll/z_calls.h"
#include "datatype/type_props.h"
#include "datatype/z_calls.h"
#include "file/datarep.h"
#include "file/hints.h"
#include "file/position.h"
#include "file/queue.h"
#include "file/transfer.h"
#include "file/types.h"
#include "file/z_calls.h"

void gompi_file_view_default(struct gompi_file_view *view) {
	*view = (struct gompi_file_view){.etype = MPI_BYTE, .filetype = MPI_BYTE, .tile_type = MPI_BYTE};
	view->tile = gompi_type_get(MPI_BYTE);
	view->etype_bytes = 1;
	view->is_contiguous = true;
	strcpy(view->datarep_name, "native");
}

int gompi_file_view_position(const struct gompi_file_view *view, int64_t first, int64_t bytes, int64_t *pos,
			     struct gompi_error_status *v) {
	const struct gompi_type *t = view->tile;
	int64_t end;
	__int128 last = INT64_MAX; // upper bound of the offset of the last byte; INT64_MAX if a term overflows
	if (first >= 0 && !__builtin_mul_overflow(first, view->etype_bytes, pos) &&
	    !__builtin_add_overflow(*pos, bytes, &end) && !__builtin_add_overflow(end, t->size, &end))
		last = (__int128)view->disp + t->true_ub +
		       (t->size == 0 ? 0 : (__int128)(end / t->size) * gompi_max_i64(t->extent, 0));
	if (last < INT64_MAX)
		return MPI_SUCCESS;
	return gompi_set_error(v, MPI_ERR_ARG,
			       "an access to %lld bytes at offset %lld of the view (in etypes of %lld bytes) exceeds "
			       "the maximum size of a file",
			       (long long)bytes, (long long)first, (long long)view->etype_bytes);
}

void gompi_file_view_free(struct gompi_file_view *view) {
	if (view->tile_type != view->filetype)
		gompi_file_type_free(&view->tile_type);
	gompi_file_type_free(&view->etype);
	gompi_file_type_free(&view->filetype);
}

// Checks that the displacements of a filetype do not decrease and, for writing, that its blocks do not overlap. The
// copies of the filetype may overlap: its extent may be small because the types from which it is constructed have
// explicit bounds (MPI_Type_create_resized).
static int check_order(const struct gompi_type *t, bool writes, struct gompi_error_status *v) {
	if (t->size == 0)
		return MPI_SUCCESS;
	if (t->extent < 0)
		return gompi_set_error(v, MPI_ERR_ARG,
				       "the extent of the filetype is %lld; it must not be negative, because the "
				       "displacements of a view must not decrease",
				       (long long)t->extent);
	struct gompi_cursor c;
	int64_t start = INT64_MIN, end = INT64_MIN; // bounds of the last block
	gompi_cursor_init(&c, t, 1, GOMPI_BYTES);
	while (c.run.n > 0) {
		struct gompi_run r = gompi_cursor_run(&c, INT64_MAX);
		if (r.offset < 0)
			return gompi_set_error(
				v, MPI_ERR_ARG,
				"the filetype contains the displacement %lld; its displacements must not be negative",
				(long long)r.offset);
		if (r.offset < start || (r.n > 1 && r.stride < 0))
			return gompi_set_error(v, MPI_ERR_ARG,
					       "the displacements of the filetype decrease at displacement %lld; the "
					       "displacements of a view must not decrease",
					       (long long)r.offset);
		if (writes && (r.offset < end || (r.n > 1 && r.stride < r.block)))
			return gompi_set_error(v, MPI_ERR_ARG,
					       "blocks of the filetype overlap at displacement %lld; in a file that is "
					       "open for writing, they must not overlap",
					       (long long)r.offset);
		start = r.offset + (r.n - 1) * r.stride;
		end = start + r.block;
	}
	return MPI_SUCCESS;
}

// Makes the new view from the arguments of MPI_File_set_view. Returns MPI_SUCCESS or the class in v.
static int make_view(const struct gompi_file *f, struct gompi_file_view *view, MPI_Offset disp, MPI_Datatype etype,
		     MPI_Datatype filetype, const char *datarep, struct gompi_error_status *v) {
	const struct gompi_type *e = gompi_type_get(etype), *t = gompi_type_get(filetype);
	bool is_native;
	if (disp < 0)
		return gompi_set_error(
			v, MPI_ERR_ARG, "disp is %lld; it must not be negative%s", (long long)disp,
			disp == MPI_DISPLACEMENT_CURRENT
				? " (MPI_DISPLACEMENT_CURRENT is for files opened with MPI_MODE_SEQUENTIAL)"
				: "");
	if (e == NULL || t == NULL)
		return gompi_set_error(v, MPI_ERR_TYPE,
				       "%s is not a datatype, or has not been committed (MPI_Type_commit)",
				       e == NULL ? "etype" : "filetype");
	if (datarep == NULL)
		return gompi_set_error(v, MPI_ERR_ARG, "datarep is NULL");
	if (e->size == 0 ? t->size != 0 : t->size % e->size != 0)
		return gompi_set_error(v, MPI_ERR_ARG,
				       "the filetype has %lld bytes; this must be a multiple of the size of the etype, "
				       "which has %lld bytes",
				       (long long)t->size, (long long)e->size);
	view->datarep = gompi_datarep_find(datarep, &is_native);
	if (view->datarep == NULL && !is_native)
		return gompi_set_error(v, MPI_ERR_UNSUPPORTED_DATAREP,
				       "datarep is \"%.64s\"; it must be native, internal, external32 or a name that "
				       "was registered with MPI_Register_datarep",
				       datarep);
	view->disp = disp;
	strcpy(view->datarep_name, datarep);
	if (gompi_file_type_copy(etype, &view->etype, v) != MPI_SUCCESS ||
	    gompi_file_type_copy(filetype, &view->filetype, v) != MPI_SUCCESS)
		return v->class;
	MPI_Datatype etype_in_file = view->etype;
	view->tile_type = view->filetype;
	if (view->datarep != NULL &&
	    gompi_datarep_file_type(view->datarep, view->etype, &etype_in_file, v) != MPI_SUCCESS)
		return v->class;
	if (view->datarep != NULL &&
	    gompi_datarep_file_type(view->datarep, view->filetype, &view->tile_type, v) != MPI_SUCCESS) {
		gompi_file_type_free(&etype_in_file);
		return v->class;
	}
	view->tile = gompi_type_get(view->tile_type);
	view->etype_bytes = gompi_type_get(etype_in_file)->size;
	view->is_contiguous = (view->tile->flags & GOMPI_TYPE_CONTIGUOUS) != 0;
	if (etype_in_file != view->etype)
		gompi_file_type_free(&etype_in_file);
	return check_order(view->tile, (f->amode & MPI_MODE_RDONLY) == 0, v);
}

int gompi_file_set_view(MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype, const char datarep[],
			MPI_Info info) {
	static const char call[] = "MPI_File_set_view";
	struct gompi_file *f = gompi_file_get(fh);
	if (f == NULL)
		return gompi_not_a_file(fh, call);
	struct gompi_error_status v = {.class = MPI_SUCCESS};
	struct gompi_file_view view = {0};
	struct gompi_file_hints hints;
	gompi_file_await_collectives(f, call);
	if (f->split.begun != NULL) {
		gompi_file_split_active_error(f, &v);
	} else {
		if (disp == MPI_DISPLACEMENT_CURRENT && (f->amode & MPI_MODE_SEQUENTIAL)) {
			int64_t etypes = 0, pos = 0;
			gompi_file_shared_get(f, &etypes, &v);
			if (v.class == MPI_SUCCESS)
				gompi_file_view_position(&f->view, etypes, 0, &pos, &v);
			disp = gompi_file_offset(&f->view, pos);
		}
		if (v.class == MPI_SUCCESS && make_view(f, &view, disp, etype, filetype, datarep, &v) == MPI_SUCCESS)
			hints = f->hints, gompi_file_hints_read(&hints, info, &v);
	}
	// All processes must pass etypes of equal extent and the same data representation (MPI-5.0 14.3). A hash of its
	// name is compared, shifted so that it is not negative.
	uint64_t name = 5381;
	for (const char *c = view.datarep_name; *c != 0; c++)
		name = name * 33 + (unsigned char)*c;
	int64_t mine[] = {v.class == MPI_SUCCESS ? gompi_type_get(etype)->extent : 0, (int64_t)(name >> 1)};
	if (gompi_file_agree_on(f->comm, f->rank, f->size, mine, 2, "the extent of etype, or datarep,", &v) ==
	    MPI_SUCCESS) {
		gompi_file_view_free(&f->view);
		f->view = view;
		gompi_store(&f->position, 0);
		f->hints = hints;
		// Rank 0 resets the shared file pointer before it takes part in the agreement below. So no process
		// returns from the call before the pointer is reset.
		if (f->rank == 0)
			gompi_file_shared_set(f, 0, &v);
		int64_t is_strided = !view.is_contiguous;
		gompi_file_agree_max(f->comm, f->rank, f->size, &is_strided, &v);
		f->is_strided = v.class == MPI_SUCCESS && is_strided && f->size > 1;
		return v.class == MPI_SUCCESS ? MPI_SUCCESS : gompi_file_raise(fh, call, &v);
	}
	gompi_file_view_free(&view);
	return gompi_file_raise(fh, call, &v);
}
GOMPI_ENTRY(MPI_File_set_view, gompi_file_set_view);

int gompi_file_get_view(MPI_File fh, MPI_Offset *disp, MPI_Datatype *etype, MPI_Datatype *filetype, char *datarep) {
	static const char call[] = "MPI_File_get_view";
	struct gompi_file *f = gompi_file_get(fh);
	struct gompi_error_status v;
	if (f == NULL)
		return gompi_not_a_file(fh, call);
	if (disp == NULL || etype == NULL || filetype == NULL || datarep == NULL)
		return gompi_null_argument_error(call, "disp, etype, filetype or datarep", GOMPI_ON_FILE,
						 (uintptr_t)fh);
	MPI_Datatype e, t;
	if (gompi_file_type_copy(f->view.etype, &e, &v) != MPI_SUCCESS)
		return gompi_file_raise(fh, call, &v);
	if (gompi_file_type_copy(f->view.filetype, &t, &v) != MPI_SUCCESS) {
		gompi_file_type_free(&e);
		return gompi_file_raise(fh, call, &v);
	}
	*disp = f->view.disp, *etype = e, *filetype = t;
	strcpy(datarep, f->view.datarep_name);
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_File_get_view, gompi_file_get_view);

int gompi_file_get_byte_offset(MPI_File fh, MPI_Offset offset, MPI_Offset *disp) {
	static const char call[] = "MPI_File_get_byte_offset";
	struct gompi_file *f = gompi_file_get(fh);
	struct gompi_error_status v;
	int64_t pos;
	if (f == NULL)
		return gompi_not_a_file(fh, call);
	if (disp == NULL)
		return gompi_null_argument_error(call, "disp", GOMPI_ON_FILE, (uintptr_t)fh);
	if (offset < 0)
		gompi_set_error(&v, MPI_ERR_ARG, "offset is %lld; it must not be negative", (long long)offset);
	else if (f->amode & MPI_MODE_SEQUENTIAL)
		gompi_set_error(&v, MPI_ERR_UNSUPPORTED_OPERATION,
				"the file has been opened with MPI_MODE_SEQUENTIAL; such a file has no byte offsets");
	else if (gompi_file_view_position(&f->view, offset, 0, &pos, &v) == MPI_SUCCESS) {
		*disp = gompi_file_offset(&f->view, pos);
		return MPI_SUCCESS;
	}
	return gompi_file_raise(fh, call, &v);
}
GOMPI_ENTRY(MPI_File_get_byte_offset, gompi_file_get_byte_offset);

// Implements MPI_File_get_type_extent and its large-count form: stores the extent that a type has in the file.
static int type_extent(MPI_File fh, MPI_Datatype datatype, int64_t *extent) {
	static const char call[] = "MPI_File_get_type_extent";
	struct gompi_file *f = gompi_file_get(fh);
	const struct gompi_type *t = gompi_type_get_any(datatype);
	struct gompi_error_status v;
	MPI_Datatype in_file;
	if (f == NULL)
		return gompi_not_a_file(fh, call);
	if (extent == NULL)
		return gompi_null_argument_error(call, "extent", GOMPI_ON_FILE, (uintptr_t)fh);
	if (t == NULL) {
		gompi_set_error(&v, MPI_ERR_TYPE, "%#zx is not a datatype", (size_t)datatype);
		return gompi_file_raise(fh, call, &v);
	}
	if (f->view.datarep == NULL) {
		*extent = t->extent;
		return MPI_SUCCESS;
	}
	if (gompi_datarep_file_type(f->view.datarep, datatype, &in_file, &v) != MPI_SUCCESS)
		return gompi_file_raise(fh, call, &v);
	*extent = gompi_type_get_any(in_file)->extent;
	gompi_file_type_free(&in_file);
	return MPI_SUCCESS;
}

int gompi_file_get_type_extent(MPI_File fh, MPI_Datatype datatype, MPI_Aint *extent) {
	return type_extent(fh, datatype, extent);
}
GOMPI_ENTRY(MPI_File_get_type_extent, gompi_file_get_type_extent);

int gompi_file_get_type_extent_c(MPI_File fh, MPI_Datatype datatype, MPI_Count *extent) {
	return type_extent(fh, datatype, extent);
}
GOMPI_ENTRY(MPI_File_get_type_extent_c, gompi_file_get_type_extent_c);
