/* Proves: gompirma executes some operations that MPI calls erroneous, if they have only one possible meaning and other
 *   libraries execute them. MPI_PROC_NULL needs no epoch and begins none. A buffer without data moves nothing, whatever
 *   the target's count is. MPI_REPLACE and MPI_NO_OP copy between types of equal size in bytes. Such a copy of a
 *   structure of several types is atomic. Numbers of one kind can be added under any of their type names; MPI_BYTE is
 *   treated as a one-byte number. MPI_Fetch_and_op and MPI_Compare_and_swap accept a derived datatype of one element.
 *   Covers few and many elements, in place and with gaps. Tests every window kind. MPI-5.0 12.3
 * np: 1 2 4
 * args: proc_null zero copies whole kinds bytes single in_place
 * again: GOMPIRMA_NO_CMA=1
 * ref: mpich
 * ref-wrong: copies whole in_place kinds single (structures, and numbers under two names, abort MPICH; one element
 * needs a predefined handle)
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

enum { BYTES = 16 << 10, MANY = 700 };

static int round_number; /* selects a fence or a lock of the target, alternately */

static void begin(struct window *w, int target) {
	if (round_number % 2) {
		MPI_Win_fence(0, w->win);
	} else {
		MPI_Barrier(w->comm);
		MPI_Win_lock(MPI_LOCK_SHARED, target, 0, w->win);
	}
}

static void end(struct window *w, int target) {
	if (round_number++ % 2) {
		MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win);
	} else {
		MPI_Win_unlock(target, w->win);
		MPI_Barrier(w->comm);
	}
}

static void proc_null(struct window *w) {
	int value = 7, result = -1, N = MPI_PROC_NULL;
	MPI_Request r[4];
	MPI_Datatype I = MPI_INT;
	for (int fence = 0; fence < 2; fence++) {
		if (fence)
			MPI_Win_fence(0, w->win);
		CHECK_OK(MPI_Put(&value, 1, I, N, 0, 1, I, w->win));
		CHECK_OK(MPI_Get(&result, 1, I, N, 0, 1, I, w->win));
		CHECK_OK(MPI_Accumulate(&value, 1, I, N, 0, 1, I, MPI_SUM, w->win));
		CHECK_OK(MPI_Get_accumulate(&value, 1, I, &result, 1, I, N, 0, 1, I, MPI_SUM, w->win));
		CHECK_OK(MPI_Fetch_and_op(&value, &result, I, N, 0, MPI_SUM, w->win));
		CHECK_OK(MPI_Compare_and_swap(&value, &value, &result, I, N, 0, w->win));
		CHECK_OK(MPI_Rput(&value, 1, I, N, 0, 1, I, w->win, &r[0]));
		CHECK_OK(MPI_Rget(&result, 1, I, N, 0, 1, I, w->win, &r[1]));
		CHECK_OK(MPI_Raccumulate(&value, 1, I, N, 0, 1, I, MPI_SUM, w->win, &r[2]));
		CHECK_OK(MPI_Rget_accumulate(&value, 1, I, &result, 1, I, N, 0, 1, I, MPI_SUM, w->win, &r[3]));
		CHECK_OK(MPI_Waitall(4, r, MPI_STATUSES_IGNORE));
		CHECK_OK(MPI_Win_flush(N, w->win));
		CHECK_OK(MPI_Win_flush_local(N, w->win));
		CHECK(result == -1, "%s window: the result is %d", w->name, result);
		CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, w->rank, 0, w->win)); /* works only if no epoch is open */
		CHECK_OK(MPI_Win_unlock(w->rank, w->win));
	}
}

static void zero(struct window *w) {
	int right = (w->rank + 1) % w->n, *mem = w->mem, value = 7, result = -1;
	MPI_Datatype I = MPI_INT;
	MPI_Aint at = window_at(w, right, 0);
	for (int round = 0; round < 2; round++) {
		mem[0] = 40;
		begin(w, right);
		CHECK_OK(MPI_Put(&value, 0, I, right, at, 1, I, w->win));
		CHECK_OK(MPI_Get(&result, 0, I, right, at, 1, I, w->win));
		CHECK_OK(MPI_Accumulate(&value, 0, I, right, at, 1, I, MPI_SUM, w->win));
		CHECK_OK(MPI_Accumulate(&value, 0, I, right, at, 1, MPI_DOUBLE, MPI_SUM, w->win));
		end(w, right);
		CHECK(mem[0] == 40 && result == -1, "%s window: memory is %d, the result %d", w->name, mem[0], result);
	}
}

struct record {
	double x;
	int i, j;
};

static MPI_Datatype record_type(void) {
	int lengths[2] = {1, 2};
	MPI_Aint at[2] = {0, offsetof(struct record, i)};
	MPI_Datatype types[2] = {MPI_DOUBLE, MPI_INT}, t;
	MPI_Type_create_struct(2, lengths, at, types, &t);
	MPI_Type_commit(&t);
	return t;
}

/* Replaces n records at the right neighbour. Sends them as one type, stores them as another type, and fetches the old
 * records as a third type. */
static void copies(struct window *w) {
	int right = (w->rank + 1) % w->n;
	MPI_Datatype record = record_type(), halves, gaps;
	MPI_Type_vector(2, 1, 2, MPI_DOUBLE, &halves); /* two doubles with a gap between */
	MPI_Type_create_resized(halves, 0, 2 * sizeof(struct record), &gaps);
	MPI_Type_commit(&gaps);
	const struct {
		MPI_Datatype type;
		int n, gaps; /* n: number of elements in one record; gaps: 1 if the type has gaps */
	} forms[] = {{record, 1, 0},
		     {MPI_BYTE, sizeof(struct record), 0},
		     {MPI_INT, 4, 0},
		     {MPI_UNSIGNED, 4, 0},
		     {MPI_DOUBLE, 2, 0},
		     {MPI_INT64_T, 2, 0},
		     {MPI_CHAR, sizeof(struct record), 0},
		     {MPI_2INT, 2, 0},
		     {gaps, 1, 1}};
	enum { FORMS = sizeof forms / sizeof *forms };
	char *mem = w->mem, *from = malloc(BYTES), *to = malloc(BYTES);
	for (int f = 0; f < FORMS * FORMS; f++)
		for (int count = 1; count <= 200; count += 199) {
			int o = f % FORMS, t = f / FORMS, r = (o + t + 1) % FORMS;
			MPI_Aint at = window_at(w, right, 0);
			memset(mem, 0x11, BYTES);
			memset(from, 0x22, BYTES);
			memset(to, 0x33, BYTES);
			/* PLACE gives the offset of byte k of the records in a buffer of the given form. */
#define PLACE(form, k) (!forms[form].gaps ? (k) : (k) / 16 * 32 + (k) % 16 / 8 * 16 + (k) % 8)
			for (int k = 0; k < count * 16; k++) {
				mem[PLACE(t, k)] = (char)(w->rank + 3 * k);
				from[PLACE(o, k)] = (char)(50 + w->rank + 5 * k);
			}
			begin(w, right);
			int oc = count * forms[o].n, tc = count * forms[t].n, rc = count * forms[r].n;
			if (f % 3 == 0)
				CHECK_OK(MPI_Accumulate(from, oc, forms[o].type, right, at, tc, forms[t].type,
							MPI_REPLACE, w->win));
			else if (f % 3 == 1)
				CHECK_OK(MPI_Get_accumulate(from, oc, forms[o].type, to, rc, forms[r].type, right, at,
							    tc, forms[t].type, MPI_REPLACE, w->win));
			else
				CHECK_OK(MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, to, rc, forms[r].type, right,
							    at, tc, forms[t].type, MPI_NO_OP, w->win));
			end(w, right);
			int wrong = 0, left = (w->rank + w->n - 1) % w->n, touched = 0;
			for (int k = 0; k < count * 16; k++) {
				wrong += mem[PLACE(t, k)] !=
					 (f % 3 == 2 ? (char)(w->rank + 3 * k) : (char)(50 + left + 5 * k));
				wrong += to[PLACE(r, k)] != (f % 3 == 0 ? 0x33 : (char)(right + 3 * k));
			}
			for (int k = 0; forms[t].gaps && k < count; k++)
				for (int b = 0; b < 16; b++)
					touched += mem[k * 32 + b / 8 * 16 + 8 + b % 8] != 0x11;
			CHECK(wrong == 0, "%s window: %d records, forms %d %d %d: %d bytes are wrong", w->name, count,
			      o, t, r, wrong);
			CHECK(touched == 0, "%s window: %d records, forms %d %d %d: %d bytes between were touched",
			      w->name, count, o, t, r, touched);
			MPI_Barrier(w->comm);
		}
	free(from);
	free(to);
	MPI_Type_free(&record);
	MPI_Type_free(&halves);
	MPI_Type_free(&gaps);
}

/* Replaces and reads one record at rank 0 from all ranks, under a shared lock. Each read must return a whole record of
 * a single rank. */
static void whole(struct window *w) {
	MPI_Datatype record = record_type();
	struct record mine = {w->rank, w->rank, w->rank}, got;
	if (w->rank == 0)
		memset(w->mem, 0, sizeof(struct record));
	MPI_Barrier(w->comm);
	MPI_Win_lock_all(0, w->win);
	for (int i = 0; i < 200; i++) {
		CHECK_OK(MPI_Accumulate(&mine, 1, record, 0, window_at(w, 0, 0), 1, record, MPI_REPLACE, w->win));
		CHECK_OK(MPI_Get_accumulate(NULL, 0, record, &got, 1, record, 0, window_at(w, 0, 0), 1, record,
					    MPI_NO_OP, w->win));
		MPI_Win_flush(0, w->win);
		if (got.x != got.i || got.i != got.j || got.i < 0 || got.i >= w->n) {
			CHECK(0, "%s window: a record of %g, %d, %d", w->name, got.x, got.i, got.j);
			break;
		}
	}
	MPI_Win_unlock_all(w->win);
	MPI_Barrier(w->comm);
	MPI_Type_free(&record);
}

/* Adds n elements of the origin's type to n elements of the target's type. Both types have the size `size`, 8 or 4
 * bytes. */
static void add(struct window *w, MPI_Datatype origin, MPI_Datatype target, int size, int floating, int n, int fetch) {
	int right = (w->rank + 1) % w->n, left = (w->rank + w->n - 1) % w->n, wrong = 0;
	char *mem = w->mem, from[MANY * 8], to[MANY * 8];
	for (int i = 0; i < n; i++) {
		if (floating && size == 8)
			((double *)mem)[i] = i + w->rank, ((double *)from)[i] = 0.5 * w->rank;
		else if (floating)
			((float *)mem)[i] = (float)(i + w->rank), ((float *)from)[i] = 0.5f * (float)w->rank;
		else if (size == 8)
			((int64_t *)mem)[i] = i + w->rank, ((int64_t *)from)[i] = ((int64_t)1 << 40) + w->rank;
		else
			((int *)mem)[i] = i + w->rank, ((int *)from)[i] = -(1 << 20) - w->rank;
	}
	begin(w, right);
	if (fetch)
		CHECK_OK(MPI_Get_accumulate(from, n, origin, to, n, target, right, window_at(w, right, 0), n, target,
					    MPI_SUM, w->win));
	else
		CHECK_OK(MPI_Accumulate(from, n, origin, right, window_at(w, right, 0), n, target, MPI_SUM, w->win));
	end(w, right);
	for (int i = 0; i < n; i++) {
		if (floating && size == 8)
			wrong += ((double *)mem)[i] != i + w->rank + 0.5 * left ||
				 (fetch && ((double *)to)[i] != i + right);
		else if (floating)
			wrong += ((float *)mem)[i] != (float)(i + w->rank) + 0.5f * (float)left ||
				 (fetch && ((float *)to)[i] != (float)(i + right));
		else if (size == 8)
			wrong += ((int64_t *)mem)[i] != i + w->rank + ((int64_t)1 << 40) + left ||
				 (fetch && ((int64_t *)to)[i] != i + right);
		else
			wrong += ((int *)mem)[i] != i + w->rank - (1 << 20) - left ||
				 (fetch && ((int *)to)[i] != i + right);
	}
	char a[MPI_MAX_OBJECT_NAME], b[MPI_MAX_OBJECT_NAME];
	int len;
	MPI_Type_get_name(origin, a, &len);
	MPI_Type_get_name(target, b, &len);
	CHECK(wrong == 0, "%s window: %d of %d elements of %s added to %s are wrong", w->name, wrong, n, a, b);
	MPI_Barrier(w->comm);
}

static void kinds(struct window *w) {
	MPI_Datatype integer9, integer15, real6, real15;
	MPI_Type_create_f90_integer(9, &integer9);
	MPI_Type_create_f90_integer(15, &integer15);
	MPI_Type_create_f90_real(6, 30, &real6);
	MPI_Type_create_f90_real(15, 300, &real15);
	const struct {
		MPI_Datatype types[6];
		int n, size, floating;
	} kinds[] = {{{MPI_INT, MPI_INTEGER, MPI_INT32_T, MPI_INTEGER4, integer9}, 5, 4, 0},
		     {{MPI_LONG, MPI_LONG_LONG, MPI_INT64_T, MPI_AINT, MPI_INTEGER8, integer15}, 6, 8, 0},
		     {{MPI_FLOAT, MPI_REAL, MPI_REAL4, real6}, 4, 4, 1},
		     {{MPI_DOUBLE, MPI_DOUBLE_PRECISION, MPI_REAL8, real15}, 4, 8, 1}};
	for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++)
		for (int a = 0; a < kinds[k].n; a++)
			for (int b = 0; b < kinds[k].n; b++)
				for (int few = 0; few < 2; few++)
					add(w, kinds[k].types[a], kinds[k].types[b], kinds[k].size, kinds[k].floating,
					    few ? 3 : MANY, (a + b + few) % 2);
}

static void bytes(struct window *w) {
	unsigned char *mem = w->mem, ones[MANY], fives[MANY], got[MANY];
	memset(mem, 3, MANY);
	memset(ones, 1, MANY);
	memset(fives, 5, MANY);
	int right = (w->rank + 1) % w->n;
	MPI_Barrier(w->comm);
	for (int n = 1; n <= MANY; n += MANY - 1) {
		MPI_Win_fence(0, w->win);
		CHECK_OK(MPI_Accumulate(ones, n, MPI_BYTE, 0, window_at(w, 0, 0), n, MPI_BYTE, MPI_SUM,
					w->win)); /* all ranks add at once */
		MPI_Win_fence(0, w->win);
	}
	if (w->rank == 0)
		CHECK(mem[0] == 3 + 2 * w->n && mem[1] == 3 + w->n && mem[MANY - 1] == 3 + w->n,
		      "%s window: sums %d, %d, %d", w->name, mem[0], mem[1], mem[MANY - 1]);
	MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win);
	mem[0] = mem[1] = 3;
	mem[2] = 100;
	begin(w, right);
	CHECK_OK(MPI_Accumulate(fives, 1, MPI_BYTE, right, window_at(w, right, 0), 1, MPI_BYTE, MPI_PROD, w->win));
	CHECK_OK(MPI_Accumulate(fives, 1, MPI_BYTE, right, window_at(w, right, 1), 1, MPI_BYTE, MPI_MIN, w->win));
	CHECK_OK(MPI_Fetch_and_op(fives, got, MPI_BYTE, right, window_at(w, right, 2), MPI_MAX, w->win));
	CHECK_OK(MPI_Get_accumulate(fives, MANY - 3, MPI_BYTE, got + 3, MANY - 3, MPI_BYTE, right,
				    window_at(w, right, 3), MANY - 3, MPI_BYTE, MPI_SUM, w->win));
	end(w, right);
	int before = right == 0 ? 3 + w->n : 3, now = (w->rank == 0 ? 3 + w->n : 3) + 5;
	CHECK(mem[0] == 15 && mem[1] == 3 && mem[2] == 100 && mem[3] == now && mem[MANY - 1] == now,
	      "%s window: %d, %d, %d, %d, %d", w->name, mem[0], mem[1], mem[2], mem[3], mem[MANY - 1]);
	CHECK(got[0] == 100 && got[3] == before && got[MANY - 1] == before, "%s window: fetched %d, %d, %d", w->name,
	      got[0], got[3], got[MANY - 1]);
	MPI_Barrier(w->comm);
}

static void single(struct window *w) {
	MPI_Datatype types[4];
	MPI_Type_create_f90_integer(9, &types[0]);
	MPI_Type_dup(MPI_INT, &types[1]);
	MPI_Type_contiguous(1, MPI_INT, &types[2]);
	MPI_Type_create_resized(MPI_INT, 0, 16, &types[3]);
	int *mem = w->mem, right = (w->rank + 1) % w->n, one = 1, got = -1;
	for (int i = 0; i < 4; i++) {
		MPI_Aint at = window_at(w, right, 4);
		if (i > 1)
			MPI_Type_commit(&types[i]);
		mem[1] = 10 + w->rank;
		begin(w, right);
		CHECK_OK(MPI_Fetch_and_op(&one, &got, types[i], right, at, MPI_SUM, w->win));
		end(w, right);
		CHECK(got == 10 + right && mem[1] == 11 + w->rank, "%s window, type %d: fetched %d, memory %d", w->name,
		      i, got, mem[1]);
		int compare = 11 + right, swap = 100 + i;
		begin(w, right);
		CHECK_OK(MPI_Compare_and_swap(&swap, &compare, &got, types[i], right, at, w->win));
		end(w, right);
		CHECK(got == 11 + right && mem[1] == 100 + i, "%s window, type %d: swapped %d, memory %d", w->name, i,
		      got, mem[1]);
		begin(w, right);
		CHECK_OK(MPI_Fetch_and_op(NULL, &got, types[i], right, at, MPI_NO_OP, w->win));
		end(w, right);
		CHECK(got == 100 + i, "%s window, type %d: read %d", w->name, i, got);
		if (i > 0)
			MPI_Type_free(&types[i]);
		MPI_Barrier(w->comm);
	}
}

static const struct {
	const char *name;
	void (*run)(struct window *w);
} tests[] = {{"proc_null", proc_null}, {"zero", zero},   {"copies", copies}, {"whole", whole},
	     {"kinds", kinds},         {"bytes", bytes}, {"single", single}};

static void body(struct window *w) {
	MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN);
	for (size_t t = 0; t < sizeof tests / sizeof *tests; t++)
		if (strcmp(check_arg, tests[t].name) == 0 || strcmp(check_arg, "in_place") == 0)
			tests[t].run(w);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	if (strcmp(check_arg, "in_place") == 0) {
		MPI_Info_create(&windows_info);
		MPI_Info_set(windows_info, "gompirma_share_in_place", "true");
		windows_one(KIND_MALLOC, BYTES, 1, MPI_COMM_WORLD, body);
		windows_one(KIND_STATIC, BYTES, 1, MPI_COMM_WORLD, body);
		MPI_Info_free(&windows_info);
	} else {
		windows_each(BYTES, 1, MPI_COMM_WORLD, body);
	}
	return check_end();
}
