/* Proves: put, get, accumulate and get_accumulate work between random derived types on both sides (nested, with gaps,
 *   reversed, resized), with counts above one. They move exactly the bytes that MPI_Pack and MPI_Unpack move, in the
 *   same order. Other bytes do not change. Tests every window kind. MPI-5.0 12.3 5.1
 * np: 1 2 4
 * args: put get accumulate get_accumulate pairs
 * ref: mpich
 * timeout: 120
 */
#include "../windows.h"

enum { WINDOW = 16384, ROUNDS = 40 };

static uint64_t seed = 1;
static int below(int n) { return (int)(check_random(&seed) % (uint64_t)n); }

/* Returns a random type over `old`, in which no byte occurs twice. Frees `old` unless it is predefined. */
static MPI_Datatype over(MPI_Datatype old, MPI_Datatype leaf) {
	MPI_Datatype t, types[2] = {old, leaf};
	MPI_Aint lb, extent, at[2];
	int n = 1 + below(4), lengths[8], displs[8], d = below(3), sizes[2], subsizes[2], starts[2], one[2] = {1, 1};
	MPI_Type_get_extent(old, &lb, &extent);
	for (int i = 0; i < n; i++) {
		lengths[i] = below(4);
		displs[i] = d;
		d += lengths[i] + below(3);
	}
	switch (below(8)) {
	case 0:
		MPI_Type_contiguous(n, old, &t);
		break;
	case 1:
		MPI_Type_vector(n, 1 + below(2), 2 + below(3), old, &t);
		break;
	case 2:
		MPI_Type_create_hvector(n, 1, -extent - 8 * below(3), old, &t); /* reversed */
		break;
	case 3:
		MPI_Type_indexed(n, lengths, displs, old, &t);
		break;
	case 4:
		for (int i = 0; i < n; i++)
			displs[i] = 3 * ((i * 7) % n) + below(2); /* unordered */
		MPI_Type_create_indexed_block(n, 1, displs, old, &t);
		break;
	case 5:
		at[0] = 8 * below(4);
		at[1] = at[0] + lb + extent + 8 * (1 + below(3)) + 64;
		MPI_Type_create_struct(2, one, at, types, &t);
		break;
	case 6:
		for (int i = 0; i < 2; i++) {
			sizes[i] = 2 + below(3);
			subsizes[i] = 1 + below(sizes[i]);
			starts[i] = below(sizes[i] - subsizes[i] + 1);
		}
		MPI_Type_create_subarray(2, sizes, subsizes, starts, below(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, old,
					 &t);
		break;
	default:
		MPI_Type_create_resized(old, lb, extent + 8 * below(4), &t);
	}
	if (old != leaf)
		MPI_Type_free(&old);
	return t;
}

/* Returns a committed random type and stores a random count of elements. Their data lies within 2000 bytes of the
 * middle of a buffer. */
static MPI_Datatype random_type(MPI_Datatype leaf, int *count) {
	for (;;) {
		MPI_Datatype t;
		MPI_Aint lb, extent, true_lb, true_extent;
		int size;
		MPI_Type_dup(leaf, &t);
		for (int depth = below(4); depth > 0; depth--)
			t = over(t, leaf);
		*count = 1 + below(3);
		MPI_Type_size(t, &size);
		MPI_Type_get_extent(t, &lb, &extent);
		MPI_Type_get_true_extent(t, &true_lb, &true_extent);
		if (size > 0 && extent >= true_extent && true_lb > -2000 &&
		    true_lb + true_extent + *count * extent < 2000) {
			MPI_Type_commit(&t);
			return t;
		}
		MPI_Type_free(&t);
	}
}

/* Packs count elements with MPI_Pack. Returns the number of packed bytes. */
static int packed(const char *middle, int count, MPI_Datatype t, char *to) {
	int position = 0;
	MPI_Pack(middle, count, t, to, WINDOW, &position, MPI_COMM_SELF);
	return position;
}

static void unpacked(char *middle, int count, MPI_Datatype t, const char *from, int bytes) {
	int position = 0;
	MPI_Unpack(from, bytes, &position, middle, count, t, MPI_COMM_SELF);
}

static char origin[WINDOW], result[WINDOW], shadow[WINDOW], result_shadow[WINDOW], a[WINDOW], b[WINDOW];

/* Creates an origin type and a target type with equal numbers of leaf elements. The types are equal, or one of them is
 * contiguous or a vector of leaf elements. */
static void matching(MPI_Datatype leaf, int *tn, MPI_Datatype *tt, int *on, MPI_Datatype *ot) {
	int size, leaf_size;
	*ot = random_type(leaf, on);
	MPI_Type_size(*ot, &size);
	MPI_Type_size(leaf, &leaf_size);
	int elements = *on * size / leaf_size;
	if (below(3) == 0) {
		MPI_Type_dup(*ot, tt);
		*tn = *on;
	} else if (below(2)) {
		MPI_Type_contiguous(elements, leaf, tt);
		*tn = 1;
	} else {
		MPI_Type_create_hvector(elements, 1, 16, leaf, tt);
		*tn = 1;
		MPI_Aint lb, extent;
		MPI_Type_get_extent(*tt, &lb, &extent);
		if (extent > 3500) {
			MPI_Type_free(tt);
			MPI_Type_contiguous(elements, leaf, tt);
		}
	}
	MPI_Type_commit(tt);
	if (below(2)) { /* half of the time, exchange origin and target type */
		MPI_Datatype t = *ot;
		int n = *on;
		*ot = *tt, *on = *tn;
		*tt = t, *tn = n;
	}
}

static void fill(char *x, int by) {
	for (int i = 0; i < WINDOW / 4; i++)
		((int *)x)[i] = i * 37 + by;
}

static void sum(char *inout, const char *in, int bytes, int pairs) {
	int *x = (int *)inout;
	const int *y = (const int *)in;
	if (!pairs)
		for (int i = 0; i < bytes / 4; i++)
			x[i] += y[i];
	else
		for (int i = 0; i < bytes / 4; i += 2)
			if (y[i] > x[i] || (y[i] == x[i] && y[i + 1] < x[i + 1]))
				x[i] = y[i], x[i + 1] = y[i + 1];
}

static void body(struct window *w) {
	int pairs = strcmp(check_arg, "pairs") == 0, target = (w->rank + 1) % w->n;
	int put = strcmp(check_arg, "put") == 0, get = strcmp(check_arg, "get") == 0,
	    fetch = strcmp(check_arg, "get_accumulate") == 0 || pairs;
	static const MPI_Datatype leaves[] = {MPI_INT, MPI_DOUBLE, MPI_SHORT, MPI_CHAR, MPI_DOUBLE_INT};
	for (int round = 0; round < ROUNDS; round++) {
		MPI_Datatype leaf = pairs ? MPI_2INT : put || get ? leaves[below(5)] : MPI_INT, tt, ot, rt;
		int tn, on, rn;
		matching(leaf, &tn, &tt, &on, &ot);
		MPI_Type_dup(ot, &rt);
		rn = on;
		fill(w->mem, 1000 * round);
		fill(origin, 7 + round);
		fill(result, -1);
		fill(result_shadow, -1);
		fill(shadow, 1000 * round);
		char *middle = origin + WINDOW / 2;
		MPI_Barrier(w->comm);
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, w->win);
		MPI_Aint disp = WINDOW / 2 / w->unit;
		if (put)
			MPI_Put(middle, on, ot, target, disp, tn, tt, w->win);
		else if (get)
			MPI_Get(result + WINDOW / 2, on, ot, target, disp, tn, tt, w->win);
		else if (fetch)
			MPI_Get_accumulate(middle, on, ot, result + WINDOW / 2, rn, rt, target, disp, tn, tt,
					   pairs ? MPI_MAXLOC : MPI_SUM, w->win);
		else
			MPI_Accumulate(middle, on, ot, target, disp, tn, tt, MPI_SUM, w->win);
		MPI_Win_unlock(target, w->win);
		MPI_Barrier(w->comm);

		int bytes = packed(middle, on, ot, a), old = packed(shadow + WINDOW / 2, tn, tt, b);
		CHECK(bytes == old, "the test is wrong: %d and %d bytes", bytes, old);
		if (get || fetch)
			unpacked(result_shadow + WINDOW / 2, rn, rt, b, bytes);
		if (!put && !get) {
			sum(b, a, bytes, pairs);
			unpacked(shadow + WINDOW / 2, tn, tt, b, bytes);
		} else if (put) {
			unpacked(shadow + WINDOW / 2, tn, tt, a, bytes);
		}
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, w->rank, 0, w->win);
		CHECK(memcmp(w->mem, shadow, WINDOW) == 0, "%s window, round %d: the target differs", w->name, round);
		MPI_Win_unlock(w->rank, w->win);
		CHECK(memcmp(result, result_shadow, WINDOW) == 0, "%s window, round %d: the result differs", w->name,
		      round);
		MPI_Type_free(&tt);
		MPI_Type_free(&ot);
		MPI_Type_free(&rt);
	}
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(WINDOW, 1 << (check_size % 3), MPI_COMM_WORLD, body);
	return check_end();
}
