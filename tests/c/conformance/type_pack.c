/* Proves: MPI_Pack and MPI_Unpack move exactly the bytes of a type in the order of its type map. Several MPI_Pack calls
 *   share one buffer. Covers constructors of all shapes. The data can also be unpacked in parts by other types with the
 *   same elements. MPI_Pack_size returns the right size, and MPI_Unpack_external restores what MPI_Pack_external
 *   packed. MPI-5.0 5.1.2 5.1.3 5.1.4 5.2 5.3
 * np: 1 2
 * ref: mpich
 * timeout: 60
 */
#include "../check.h"

enum { N = 4000, MOST = 16 };

static int source[N], target[N];

/* The offsets, in ints, of all `number` integers of the packed copies, in the order of the type map. */
static int places[N], number;

static void place(int at) { places[number++] = at; }

static MPI_Datatype build(int kind, int copies, int *origin) {
	MPI_Datatype t = MPI_DATATYPE_NULL, u, v;
	int lengths[] = {2, 0, 3, 1}, displs[] = {4, 9, 10, 1};
	MPI_Aint bytes[] = {16, 36, 40, 4};
	int extent = 0, pattern[200], k = 0;
#define AT(x) pattern[k++] = (x)
	*origin = 0;
	switch (kind) {
	case 0:
		MPI_Type_contiguous(5, MPI_INT, &t);
		for (int i = 0; i < 5; i++)
			AT(i);
		extent = 5;
		break;
	case 1:
	case 2:
		if (kind == 1)
			MPI_Type_vector(7, 2, 3, MPI_INT, &t);
		else
			MPI_Type_create_hvector(7, 2, 12, MPI_INT, &t);
		for (int i = 0; i < 7; i++)
			AT(3 * i), AT(3 * i + 1);
		extent = 20;
		break;
	case 3:
	case 4:
		if (kind == 3)
			MPI_Type_indexed(4, lengths, displs, MPI_INT, &t);
		else
			MPI_Type_create_hindexed(4, lengths, bytes, MPI_INT, &t);
		AT(4), AT(5), AT(10), AT(11), AT(12), AT(1);
		extent = 12;
		break;
	case 5:
	case 6:
		if (kind == 5)
			MPI_Type_create_indexed_block(4, 2, displs, MPI_INT, &t);
		else
			MPI_Type_create_hindexed_block(4, 2, bytes, MPI_INT, &t);
		for (int i = 0; i < 4; i++)
			AT(displs[i]), AT(displs[i] + 1);
		extent = 11;
		break;
	case 7: {
		MPI_Type_vector(3, 1, 2, MPI_INT, &u);
		MPI_Datatype types[] = {MPI_INT, u, MPI_INT};
		int n[] = {2, 2, 1};
		MPI_Aint at[] = {0, 12, 60};
		MPI_Type_create_struct(3, n, at, types, &t);
		MPI_Type_free(&u);
		AT(0), AT(1), AT(3), AT(5), AT(7), AT(8), AT(10), AT(12), AT(15);
		extent = 16;
		break;
	}
	case 8:
	case 9: {
		int sizes[] = {4, 6, 5}, subsizes[] = {2, 3, 2}, starts[] = {1, 2, 3};
		MPI_Type_create_subarray(3, sizes, subsizes, starts, kind == 8 ? MPI_ORDER_C : MPI_ORDER_FORTRAN,
					 MPI_INT, &t);
		for (int a = 0; a < 2; a++)
			for (int b = 0; b < 3; b++)
				for (int c = 0; c < 2; c++)
					if (kind == 8)
						AT(((a + 1) * 6 + b + 2) * 5 + c + 3);
		if (kind == 9)
			for (int c = 0; c < 2; c++)
				for (int b = 0; b < 3; b++)
					for (int a = 0; a < 2; a++)
						AT((a + 1) + 4 * (b + 2) + 24 * (c + 3));
		extent = 120;
		break;
	}
	case 10: { /* process (1, 1) of 2 x 3 has part of 7 x 5 ints: rows cyclic in pairs, columns in blocks */
		int gsizes[] = {7, 5}, distribs[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK},
		    dargs[] = {2, MPI_DISTRIBUTE_DFLT_DARG}, psizes[] = {2, 3};
		MPI_Type_create_darray(6, 4, 2, gsizes, distribs, dargs, psizes, MPI_ORDER_C, MPI_INT, &t);
		static const int rows[] = {2, 3, 6};
		for (int a = 0; a < 3; a++)
			AT(rows[a] * 5 + 2), AT(rows[a] * 5 + 3);
		extent = 35;
		break;
	}
	case 11: /* a column of a 6 x 4 matrix, resized so that copies are adjacent */
		MPI_Type_vector(6, 1, 4, MPI_INT, &u);
		MPI_Type_create_resized(u, 0, 4, &t);
		MPI_Type_free(&u);
		for (int i = 0; i < 6; i++)
			AT(4 * i);
		extent = 1;
		break;
	case 12: /* indexed blocks of a type with gaps */
		MPI_Type_create_resized(MPI_INT, 0, 12, &u);
		MPI_Type_indexed(4, lengths, displs, u, &t);
		MPI_Type_free(&u);
		AT(12), AT(15), AT(30), AT(33), AT(36), AT(3);
		extent = 36;
		break;
	case 13: /* negative stride: the blocks follow each other downwards */
		MPI_Type_vector(4, 1, -3, MPI_INT, &t);
		for (int i = 0; i < 4; i++)
			AT(-3 * i);
		extent = 10;
		*origin = 20;
		break;
	case 14: /* a vector of a vector of a contiguous type */
		MPI_Type_contiguous(2, MPI_INT, &u);
		MPI_Type_vector(2, 1, 2, u, &v);
		MPI_Type_vector(3, 2, 3, v, &t);
		MPI_Type_free(&u);
		MPI_Type_free(&v);
		for (int i = 0; i < 3; i++)
			for (int j = 0; j < 2; j++)
				for (int m = 0; m < 2; m++)
					AT(18 * i + 6 * j + 4 * m), AT(18 * i + 6 * j + 4 * m + 1);
		extent = 48;
		break;
	default: /* duplicate of a duplicate */
		MPI_Type_contiguous(3, MPI_INT, &u);
		MPI_Type_dup(u, &t);
		MPI_Type_free(&u);
		AT(0), AT(1), AT(2);
		extent = 3;
	}
	MPI_Type_commit(&t);
	number = 0;
	for (int c = 0; c < copies; c++)
		for (int i = 0; i < k; i++)
			place(*origin + pattern[i] + c * extent);
	return t;
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	static int packed[N], expected[N];
	for (int i = 0; i < N; i++)
		source[i] = 1000 + i;
	for (int kind = 0; kind < MOST; kind++)
		for (int copies = 0; copies < 4; copies++) {
			int origin, size, position = 4;
			MPI_Datatype t = build(kind, copies, &origin);
			MPI_Pack_size(copies, t, MPI_COMM_WORLD, &size);
			CHECK(size >= 4 * number, "type %d: MPI_Pack_size says %d", kind, size);
			memset(packed, 0, sizeof packed);
			MPI_Pack(source + origin, copies, t, packed, sizeof packed, &position, MPI_COMM_WORLD);
			CHECK(position == 4 + 4 * number, "type %d: position is %d", kind, position);
			for (int i = 0; i < number; i++)
				CHECK(packed[1 + i] == source[places[i]],
				      "type %d, %d copies: packed[%d] is %d, not %d", kind, copies, i, packed[1 + i],
				      source[places[i]]);
			CHECK(packed[0] == 0 && packed[number + 1] == 0, "type %d: packed outside", kind);

			memset(target, 0, sizeof target);
			memset(expected, 0, sizeof expected);
			for (int i = 0; i < number; i++)
				expected[places[i]] = packed[1 + i];
			position = 4;
			MPI_Unpack(packed, sizeof packed, &position, target + origin, copies, t, MPI_COMM_WORLD);
			CHECK(position == 4 + 4 * number && memcmp(target, expected, sizeof target) == 0,
			      "type %d, %d copies: unpacked wrongly", kind, copies);

			/* Also packs and unpacks with external32, and receives the data with MPI_INT elements. */
			MPI_Aint bytes, at = 0;
			MPI_Pack_external_size("external32", copies, t, &bytes);
			CHECK(bytes == 4 * number, "type %d: %ld bytes in external32", kind, (long)bytes);
			MPI_Pack_external("external32", source + origin, copies, t, packed, sizeof packed, &at);
			for (int i = 0; i < number; i++) {
				unsigned char *p = (unsigned char *)&packed[i];
				int v = p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
				CHECK(v == source[places[i]], "type %d: external32[%d] is %d, not %d", kind, i, v,
				      source[places[i]]);
			}
			memset(target, 0, sizeof target);
			at = 0;
			MPI_Unpack_external("external32", packed, sizeof packed, &at, target + origin, copies, t);
			CHECK(memcmp(target, expected, sizeof target) == 0,
			      "type %d, %d copies: unpacked wrongly from external32", kind, copies);

			memset(target, 0, sizeof target);
			MPI_Sendrecv(source + origin, copies, t, check_rank, 0, target, number, MPI_INT, check_rank, 0,
				     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			for (int i = 0; i < number; i++)
				CHECK(target[i] == source[places[i]], "type %d: received[%d] is %d, not %d", kind, i,
				      target[i], source[places[i]]);
			MPI_Type_free(&t);
		}
	return check_end();
}
