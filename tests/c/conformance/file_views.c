/* Proves: writes and reads through views with filetypes of many kinds move the right data, from contiguous and
 * noncontiguous memory. The file must equal memory into which MPI_Unpack stores the data with the filetype. The
 * variants are kinds of access. MPI-5.0 14.3.
 *
 * np: 1 3
 * args: independent collective nonblocking
 * nodes: 2
 * timeout: 60
 * ref: mpich
 */
#include "../files.h"

enum { ROOM = 1 << 16, TILES = 7 };

static MPI_Datatype made(int kind, MPI_Datatype *etype) {
	MPI_Datatype t = MPI_DATATYPE_NULL, u;
	int lengths[] = {3, 1, 2}, displs[] = {1, 7, 12}, sizes[] = {6, 8}, subsizes[] = {3, 4}, starts[] = {2, 1};
	*etype = MPI_INT;
	switch (kind) {
	case 0:
		MPI_Type_contiguous(5, MPI_INT, &t);
		break;
	case 1:
		MPI_Type_vector(4, 2, 5, MPI_INT, &t);
		break;
	case 2:
		MPI_Type_indexed(3, lengths, displs, MPI_INT, &t);
		break;
	case 3:
		MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_INT, &t);
		break;
	case 4: /* a hole in front and behind */
		MPI_Type_vector(3, 1, 2, MPI_INT, &u);
		MPI_Type_create_hindexed(1, (int[]){1}, (MPI_Aint[]){16}, u, &t);
		MPI_Type_free(&u);
		u = t;
		MPI_Type_create_resized(u, 0, 64, &t);
		MPI_Type_free(&u);
		break;
	case 5: /* a part of each rank in each tile */
		MPI_Type_create_resized(MPI_INT, 0, (MPI_Aint)sizeof(int) * check_size, &u);
		MPI_Type_create_hindexed(1, (int[]){3}, (MPI_Aint[]){(MPI_Aint)sizeof(int) * check_rank}, u, &t);
		MPI_Type_free(&u);
		u = t;
		MPI_Type_create_resized(u, 0, 3 * (MPI_Aint)sizeof(int) * check_size, &t);
		MPI_Type_free(&u);
		break;
	case 6: {
		int n = check_size, gsizes[] = {4 * n, 6}, distribs[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK},
		    dargs[] = {2, MPI_DISTRIBUTE_DFLT_DARG}, psizes[] = {n, 1};
		MPI_Type_create_darray(n, check_rank, 2, gsizes, distribs, dargs, psizes, MPI_ORDER_C, MPI_INT, &t);
		break;
	}
	case 7: { /* the etype is a struct */
		MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE};
		MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 8}, types, &u);
		*etype = u;
		MPI_Type_commit(etype);
		MPI_Type_vector(2, 1, 3, u, &t);
		return MPI_Type_commit(&t), t;
	}
	case 8:
		*etype = MPI_BYTE;
		MPI_Type_vector(40, 3, 7, MPI_BYTE, &t);
		break;
	case 9: /* blocks and gaps longer than a page */
		MPI_Type_vector(2, 1500, 4000, MPI_INT, &t);
		break;
	}
	MPI_Type_commit(&t);
	return t;
}
enum { KINDS = 10 };

/* Frees an etype that made() has stored, unless the etype is predefined. */
static void free_etype(MPI_Datatype *etype) {
	if (*etype != MPI_INT && *etype != MPI_BYTE)
		MPI_Type_free(etype);
}

static void move(MPI_File f, int write, MPI_Offset at, void *buf, int count, MPI_Datatype type, int expected) {
	MPI_Status s;
	MPI_Request q;
	if (strcmp(check_arg, "collective") == 0) {
		CHECK_OK(write ? MPI_File_write_at_all(f, at, buf, count, type, &s)
			       : MPI_File_read_at_all(f, at, buf, count, type, &s));
	} else if (strcmp(check_arg, "nonblocking") == 0) {
		CHECK_OK(write ? MPI_File_iwrite_at(f, at, buf, count, type, &q)
			       : MPI_File_iread_at(f, at, buf, count, type, &q));
		CHECK_OK(MPI_Wait(&q, &s));
	} else {
		CHECK_OK(write ? MPI_File_write_at(f, at, buf, count, type, &s)
			       : MPI_File_read_at(f, at, buf, count, type, &s));
	}
	int bytes = -1;
	MPI_Get_elements(&s, MPI_BYTE, &bytes);
	if (expected >= 0)
		CHECK_COUNT(&s, MPI_BYTE, expected);
}

/* Writes and reads through a view with one kind of filetype, a displacement, a position in the view, and one kind of
 * memory. */
static void try(int kind, MPI_Offset disp, int skipped, int strided) {
	MPI_Datatype etype, filetype = made(kind, &etype), memory = MPI_BYTE;
	int tile, unit, position = 0;
	MPI_Type_size(filetype, &tile);
	MPI_Type_size(etype, &unit);
	int bytes = TILES * tile - skipped * unit - (kind == 0 ? 0 : unit), words = bytes / 4;
	char *model = malloc(ROOM * 4), *file = malloc(ROOM * 4), *data = malloc((size_t)bytes * 2 + 64),
	     *packed = malloc((size_t)TILES * (size_t)tile);
	MPI_File f = file_create("views");
	/* bytes between the blocks must keep their values */
	memset(file, 0x5a, ROOM * 4);
	if (check_rank == 0)
		CHECK_OK(MPI_File_write_at(f, 0, file, ROOM * 4, MPI_BYTE, MPI_STATUS_IGNORE));
	for (int i = 0; i < bytes * 2 + 64; i++)
		data[i] = (char)(i * 7 + check_rank * 31 + kind + i / 256);
	if (strided && bytes % 4 == 0) {
		MPI_Type_vector(words, 4, 8, MPI_BYTE, &memory);
		MPI_Type_commit(&memory);
	}
	/* Compute the contents that the file must have after this rank's access. */
	memset(model, 0x5a, ROOM * 4);
	memset(packed, 0x5a, (size_t)TILES * (size_t)tile);
	for (int i = 0; i < bytes; i++)
		packed[skipped * unit + i] = memory == MPI_BYTE ? data[i] : data[i / 4 * 8 + i % 4];
	MPI_Unpack(packed, TILES * tile, &position, model + disp, TILES, filetype, MPI_COMM_SELF);
	CHECK_OK(MPI_File_set_view(f, disp, etype, filetype, "native", MPI_INFO_NULL));
	/* The views of the ranks overlap, so the ranks write one after another. The filetypes of kinds 5 and 6 do not
	 * overlap, so all ranks write together. */
	int together = kind == 5 || kind == 6;
	if (together) { /* combine the changes of all ranks */
		for (int i = 0; i < ROOM * 4; i++)
			model[i] ^= 0x5a;
		MPI_Allreduce(MPI_IN_PLACE, model, ROOM * 4, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
		for (int i = 0; i < ROOM * 4; i++)
			model[i] ^= 0x5a;
	}
	for (int turn = 0; turn < (together ? 1 : check_size); turn++) {
		int mine = together || turn == check_rank;
		if (strcmp(check_arg, "collective") != 0 && !mine) {
			MPI_Barrier(MPI_COMM_WORLD);
			continue;
		}
		move(f, 1, skipped, data, mine ? (memory == MPI_BYTE ? bytes : 1) : 0, memory, mine ? bytes : 0);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	/* the file contains this rank's bytes if all ranks wrote together, else the bytes of the last rank */
	char *again = calloc(1, (size_t)bytes * 2 + 64);
	move(f, 0, skipped, again, memory == MPI_BYTE ? bytes : 1, memory, bytes);
	int mine = together || check_rank == check_size - 1;
	for (int i = 0; i < bytes && mine; i++) {
		int at = memory == MPI_BYTE ? i : i / 4 * 8 + i % 4;
		if (again[at] != data[at]) {
			CHECK(0, "kind %d disp %lld skipped %d strided %d: byte %d read is %d, not %d", kind,
			      (long long)disp, skipped, strided, i, again[at], data[at]);
			break;
		}
	}
	CHECK_OK(MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
	MPI_Offset size = 0;
	CHECK_OK(MPI_File_get_size(f, &size));
	memset(file, 0, ROOM * 4);
	CHECK_OK(MPI_File_read_at(f, 0, file, ROOM * 4, MPI_BYTE, MPI_STATUS_IGNORE));
	for (int i = 0; i < ROOM * 4 && mine; i++)
		if (file[i] != model[i]) {
			CHECK(0, "kind %d disp %lld skipped %d strided %d: byte %d of the file is %d, not %d", kind,
			      (long long)disp, skipped, strided, i, file[i], model[i]);
			break;
		}
	CHECK_OK(MPI_File_close(&f));
	if (memory != MPI_BYTE)
		MPI_Type_free(&memory);
	MPI_Type_free(&filetype);
	free_etype(&etype);
	free(model), free(file), free(data), free(packed), free(again);
}

/* Checks that MPI_File_get_view returns what has been set, and that MPI_File_get_byte_offset follows the filetype. */
static void inquire(void) {
	MPI_Datatype etype, filetype = made(1, &etype), e, t;
	MPI_Offset disp = -1, at = -1;
	char datarep[MPI_MAX_DATAREP_STRING];
	int ni, na, nd, combiner;
	MPI_File f = file_create("inquire");
	CHECK_OK(MPI_File_get_view(f, &disp, &e, &t, datarep));
	CHECK(disp == 0 && e == MPI_BYTE && t == MPI_BYTE && strcmp(datarep, "native") == 0,
	      "the default view is another");
	CHECK_OK(MPI_File_set_view(f, 24, etype, filetype, "native", MPI_INFO_NULL));
	MPI_Type_free(&filetype);
	CHECK_OK(MPI_File_get_view(f, &disp, &e, &t, datarep));
	CHECK(disp == 24 && e == MPI_INT, "the view is at %lld", (long long)disp);
	MPI_Type_get_envelope(t, &ni, &na, &nd, &combiner);
	CHECK(combiner != MPI_COMBINER_NAMED, "the filetype is a predefined type");
	int size = 0;
	MPI_Type_size(t, &size);
	CHECK(size == 8 * (int)sizeof(int), "the filetype has %d bytes", size);
	MPI_Type_free(&t);
	MPI_Offset expected[] = {24, 28, 44, 48, 64, 68, 84, 88, 92, 96, 112};
	for (int i = 0; i < 11; i++) {
		CHECK_OK(MPI_File_get_byte_offset(f, i, &at));
		CHECK(at == expected[i], "etype %d is at %lld, not %lld", i, (long long)at, (long long)expected[i]);
	}
	CHECK_OK(MPI_File_close(&f));
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	for (int kind = 0; kind < KINDS; kind++)
		for (int disp = 0; disp < 2; disp++)
			for (int skipped = 0; skipped < 3; skipped += 2)
				for (int strided = 0; strided < 2; strided++)
					try(kind, disp * 1001, skipped, strided);
	inquire();
	return check_end();
}
