/* Makes one call with a displacement out of the buffer, or with a type whose data or copies are far away:
 *
 *     wild CALL FORM VALUE
 *
 * CALL is the name of a collective, or "Type" and the name of a call that takes a type. The suffix -s or -r selects the
 * side to which VALUE applies: send or receive, or origin or target. FORM has two letters. For a collective, the first
 * is b, i or p (blocking, nonblocking, persistent), and the second is n or w (the int or the _c form). For a type, the
 * second letter is n (VALUE is the displacement of the data) or w (VALUE is the extent). For a call on a window, the
 * first letter b selects MPI_Win_create, and any other letter MPI_Win_allocate. VALUE is a number, or -addr+NUMBER,
 * which is relative to the buffer. Prints RETURNED if the call returned. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 8, ROOM = 1 << 16, LONG = 10000 };

static char call[64], form, wide, side;
static int rank, size, known;
static int there[ROOM], here[ROOM];
static int counts[MOST], far[MOST], near[MOST];
static MPI_Count counts_c[MOST];
static MPI_Aint far_c[MOST], near_c[MOST];
static MPI_Datatype types[MOST];

static void done(MPI_Request r) { MPI_Wait(&r, MPI_STATUS_IGNORE); }

#define LIST(...) __VA_ARGS__

/* The six forms of a collective. B and I: the names of the blocking and the nonblocking function. NARROW and WIDE: the
 * arguments of the int and of the _c forms. */
#define FORMS(B, I, COMM, NARROW, WIDE)                                                               \
	if (strcmp(call, #B) == 0) {                                                                  \
		MPI_Request q;                                                                        \
		known = 1;                                                                            \
		if (wide == 'n' && form == 'b')                                                       \
			MPI_##B(LIST NARROW, COMM);                                                   \
		else if (wide == 'n' && form == 'i')                                                  \
			MPI_I##I(LIST NARROW, COMM, &q), done(q);                                     \
		else if (wide == 'n')                                                                 \
			MPI_##B##_init(LIST NARROW, COMM, MPI_INFO_NULL, &q), MPI_Start(&q), done(q); \
		else if (form == 'b')                                                                 \
			MPI_##B##_c(LIST WIDE, COMM);                                                 \
		else if (form == 'i')                                                                 \
			MPI_I##I##_c(LIST WIDE, COMM, &q), done(q);                                   \
		else                                                                                  \
			MPI_##B##_init_c(LIST WIDE, COMM, MPI_INFO_NULL, &q), MPI_Start(&q), done(q); \
	}

static void collectives(int64_t value) {
	MPI_Comm world = MPI_COMM_WORLD, ring;
	int periodic = 1, last = size - 1;
	MPI_Cart_create(world, 1, &size, &periodic, 0, &ring);
	for (int i = 0; i < MOST; i++) {
		counts[i] = 1, counts_c[i] = 1, types[i] = MPI_INT;
		far[i] = near[i] = 4 * i, far_c[i] = near_c[i] = 4 * i;
	}
	if (strncmp(call, "Neighbor", 8) == 0)
		last = 1;
	if (strcmp(call, "Reduce_scatter") == 0)
		counts[last] = (int)value, counts_c[last] = value;
	far[last] = (int)value, far_c[last] = value;
	int *s = side == 's' ? far : near, *r = side == 's' ? near : far;
	MPI_Aint *sc = side == 's' ? far_c : near_c, *rc = side == 's' ? near_c : far_c;

	FORMS(Gatherv, gatherv, world, (here, 1, MPI_INT, there, counts, far, MPI_INT, 0),
	      (here, 1, MPI_INT, there, counts_c, far_c, MPI_INT, 0))
	FORMS(Scatterv, scatterv, world, (there, counts, far, MPI_INT, here, 1, MPI_INT, 0),
	      (there, counts_c, far_c, MPI_INT, here, 1, MPI_INT, 0))
	FORMS(Allgatherv, allgatherv, world, (here, 1, MPI_INT, there, counts, far, MPI_INT),
	      (here, 1, MPI_INT, there, counts_c, far_c, MPI_INT))
	FORMS(Alltoallv, alltoallv, world, (here, counts, s, MPI_INT, there, counts, r, MPI_INT),
	      (here, counts_c, sc, MPI_INT, there, counts_c, rc, MPI_INT))
	FORMS(Alltoallw, alltoallw, world, (here, counts, s, types, there, counts, r, types),
	      (here, counts_c, sc, types, there, counts_c, rc, types))
	FORMS(Reduce_scatter, reduce_scatter, world, (here, there, counts, MPI_INT, MPI_SUM),
	      (here, there, counts_c, MPI_INT, MPI_SUM))
	FORMS(Neighbor_allgatherv, neighbor_allgatherv, ring, (here, 1, MPI_INT, there, counts, far, MPI_INT),
	      (here, 1, MPI_INT, there, counts_c, far_c, MPI_INT))
	FORMS(Neighbor_alltoallv, neighbor_alltoallv, ring, (here, counts, s, MPI_INT, there, counts, r, MPI_INT),
	      (here, counts_c, sc, MPI_INT, there, counts_c, rc, MPI_INT))
	FORMS(Neighbor_alltoallw, neighbor_alltoallw, ring, (here, counts, sc, types, there, counts, rc, types),
	      (here, counts_c, sc, types, there, counts_c, rc, types))
}

/* Returns a type of one element of `old` at the displacement `value`, or a type whose copies are `value` bytes
 * apart. */
static MPI_Datatype far_type(MPI_Datatype old, int64_t value) {
	MPI_Datatype t;
	int one = 1;
	MPI_Aint at = value;
	if (wide == 'n')
		MPI_Type_create_hindexed(1, &one, &at, old, &t);
	else
		MPI_Type_create_resized(old, 0, value, &t);
	MPI_Type_commit(&t);
	return t;
}

#define IS(NAME) (strcmp(op, NAME) == 0 && (known = 1))

static void messages(const char *op, MPI_Datatype t, int n, MPI_Datatype big) {
	MPI_Comm world = MPI_COMM_WORLD;
	MPI_Request r;
	int to = (rank + 1) % size, from = (rank + size - 1) % size, sends = side == 's';
	static char room[1 << 17];
	if (IS("Sendrecv"))
		MPI_Sendrecv(here, n, sends ? t : MPI_INT, to, 0, there, n, sends ? MPI_INT : t, from, 0, world,
			     MPI_STATUS_IGNORE);
	if (IS("Isend")) {
		MPI_Isend(here, n, t, to, 0, world, &r);
		MPI_Recv(there, n, MPI_INT, from, 0, world, MPI_STATUS_IGNORE);
		done(r);
	}
	if (IS("Irecv")) {
		MPI_Irecv(there, n, t, from, 0, world, &r);
		MPI_Send(here, n, MPI_INT, to, 0, world);
		done(r);
	}
	if (IS("Isend_long")) {
		MPI_Isend(here, n, big, to, 0, world, &r);
		MPI_Recv(there, n * LONG, MPI_INT, from, 0, world, MPI_STATUS_IGNORE);
		done(r);
	}
	if (IS("Irecv_long")) {
		MPI_Irecv(there, n, big, from, 0, world, &r);
		MPI_Send(here, n * LONG, MPI_INT, to, 0, world);
		done(r);
	}
	if (IS("Bsend")) {
		MPI_Buffer_attach(room, sizeof room);
		MPI_Bsend(here, n, t, to, 0, world);
	}
	if (IS("Pack")) {
		int at = 0;
		MPI_Pack(here, n, t, there, sizeof there, &at, world);
	}
	if (IS("Unpack")) {
		int at = 0;
		MPI_Unpack(there, sizeof there, &at, here, n, t, world);
	}
	if (IS("Pack_external")) {
		MPI_Aint at = 0;
		MPI_Pack_external("external32", here, n, t, there, sizeof there, &at);
	}
	if (IS("Unpack_external")) {
		MPI_Aint at = 0;
		MPI_Unpack_external("external32", there, sizeof there, &at, here, n, t);
	}
}

static void collectives_of_type(const char *op, MPI_Datatype t, int n) {
	MPI_Comm world = MPI_COMM_WORLD;
	MPI_Request r;
	MPI_Datatype all[MOST];
	int at[MOST], of[MOST];
	for (int i = 0; i < MOST; i++)
		all[i] = t, of[i] = n, at[i] = n * i, types[i] = MPI_INT;
	if (IS("Bcast"))
		MPI_Bcast(there, n, t, 0, world);
	if (IS("Gather"))
		MPI_Gather(here, n, MPI_INT, there, n, t, 0, world);
	if (IS("Scatter"))
		MPI_Scatter(here, n, t, there, n, MPI_INT, 0, world);
	if (IS("Allgather"))
		MPI_Allgather(here, n, MPI_INT, there, n, t, world);
	if (IS("Alltoall"))
		MPI_Alltoall(here, n, side == 's' ? t : MPI_INT, there, n, side == 's' ? MPI_INT : t, world);
	if (IS("Ialltoall"))
		MPI_Ialltoall(here, n, MPI_INT, there, n, t, world, &r), done(r);
	if (IS("Alltoallv"))
		MPI_Alltoallv(here, of, at, MPI_INT, there, of, at, t, world);
	if (IS("Alltoallw"))
		MPI_Alltoallw(here, of, at, types, there, of, at, all, world);
}

static void windows(const char *op, MPI_Datatype t, int n, int64_t value) {
	MPI_Win w;
	void *base;
	int to = (rank + 1) % size, sends = side == 's', result[ROOM / 64];
	MPI_Datatype ours = sends ? t : MPI_INT, theirs = sends ? MPI_INT : t;
	if (form == 'b')
		MPI_Win_create(there, sizeof there, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
	else
		MPI_Win_allocate(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &w);
	MPI_Win_lock_all(0, w);
	if (IS("Put"))
		MPI_Put(here, n, ours, to, 0, n, theirs, w);
	if (IS("Put_there"))
		MPI_Put(here, 1, MPI_INT, to, value, 1, MPI_INT, w);
	if (IS("Get"))
		MPI_Get(here, n, ours, to, 0, n, theirs, w);
	if (IS("Accumulate"))
		MPI_Accumulate(here, n, ours, to, 0, n, theirs, MPI_SUM, w);
	if (IS("Get_accumulate"))
		MPI_Get_accumulate(here, n, ours, result, n, theirs, to, 0, n, MPI_INT, MPI_SUM, w);
	MPI_Win_unlock_all(w);
}

int main(int argc, char **argv) {
	if (argc != 4)
		return 9;
	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	snprintf(call, sizeof call, "%s", argv[1]);
	char *dash = strchr(call, '-');
	if (dash != NULL)
		side = dash[1], *dash = 0;
	form = argv[2][0], wide = argv[2][1];
	int64_t value = strncmp(argv[3], "-addr", 5) == 0
				? atoll(argv[3] + 5) - (int64_t)(intptr_t)(side == 's' ? here : there)
				: atoll(argv[3]);
	if (strncmp(call, "Type", 4) == 0) {
		const char *op = call + 4;
		int n = wide == 'n' ? 1 : 3;
		MPI_Datatype t = far_type(MPI_INT, value), run, big;
		MPI_Type_contiguous(LONG, MPI_INT, &run);
		big = far_type(run, value);
		messages(op, t, n, big);
		collectives_of_type(op, t, n);
		if (!known)
			windows(op, t, n, value);
	} else {
		collectives(value);
	}
	if (!known)
		return 9;
	printf("RETURNED\n");
	fflush(stdout);
	MPI_Finalize();
	return 0;
}
