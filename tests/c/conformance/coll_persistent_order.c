/* Proves: each member may start persistent collectives in its own order, if all members have initialized them in the
 *   same order. Covers single starts and MPI_Startall, also between nonblocking and blocking collectives, and by
 *   several threads. Members may be at different rounds of a request. Requests may be freed and initialized again. The
 *   variants:
 *     kinds: two requests of each kind; mixed: requests of all kinds in random orders; beside: other collectives
 *       between the starts; threads: a request for each thread; ahead: each request is started again when it is
 *       complete; many: 150 live requests; again: requests are freed in another order than they were created in, and
 *       created again; comms: several communicators; hint: mpi_assert_strict_persistent_collective_ordering, with
 *       starts in one order. MPI-5.0 6.13
 * np: 1 2 5
 * nodes: 2
 * args: kinds mixed beside threads ahead many again comms hint
 * ref: mpich
 * ref-wrong: kinds mixed ahead many again comms hint (persistent MPI_Gather and relatives leave blocks out)
 * timeout: 60
 */
#include "../check.h"

#include <pthread.h>

enum kind {
	BARRIER,
	BCAST,
	REDUCE,
	ALLREDUCE,
	GATHER,
	GATHERV,
	SCATTER,
	SCATTERV,
	ALLGATHER,
	ALLGATHERV,
	ALLTOALL,
	ALLTOALLV,
	ALLTOALLW,
	REDUCE_SCATTER,
	REDUCE_SCATTER_BLOCK,
	SCAN,
	EXSCAN,
	NEIGHBOR_ALLGATHER,
	NEIGHBOR_ALLGATHERV,
	NEIGHBOR_ALLTOALL,
	NEIGHBOR_ALLTOALLV,
	NEIGHBOR_ALLTOALLW,
	KINDS,
	PLAIN = NEIGHBOR_ALLGATHER /* the first PLAIN kinds need no topology */
};

/* One request. Each block has count elements. In calls with arrays of counts the block of member i has count + i
 * elements. */
struct op {
	enum kind kind;
	int number, root, count, round;
	MPI_Comm comm; /* in neighborhood collectives, every member is a neighbor of every member, in rank order */
	int me, n;
	int *in, *out;
	int *each, *starts;    /* each[i] = count + i; starts: its prefix sums */
	int *mine, *my_starts; /* mine[i] = count + me; my_starts: its prefix sums */
	MPI_Aint *places;      /* the elements of starts, in bytes */
	int *bytes, *my_bytes;
	MPI_Aint *my_places;
	MPI_Datatype *types;
	MPI_Request request;
};

static int element(const struct op *o, int rank, int i) {
	return o->number * 1000003 + o->round * 10007 + rank * 101 + i % 97;
}

static void *room(size_t n, size_t size) {
	void *p = calloc(n + 1, size);
	if (p == NULL)
		abort();
	return p;
}

static void make(struct op *o, enum kind kind, int number, int count, MPI_Comm comm) {
	memset(o, 0, sizeof *o);
	o->kind = kind, o->number = number, o->count = count, o->comm = comm;
	MPI_Comm_rank(comm, &o->me);
	MPI_Comm_size(comm, &o->n);
	size_t n = (size_t)o->n, all = n * ((size_t)count + n) + 1;
	o->root = number % o->n;
	o->in = room(all, sizeof(int)), o->out = room(all, sizeof(int));
	o->each = room(n, sizeof(int)), o->starts = room(n, sizeof(int));
	o->mine = room(n, sizeof(int)), o->my_starts = room(n, sizeof(int));
	o->places = room(n, sizeof(MPI_Aint)), o->my_places = room(n, sizeof(MPI_Aint));
	o->bytes = room(n, sizeof(int)), o->my_bytes = room(n, sizeof(int));
	o->types = room(n, sizeof(MPI_Datatype));
	for (int i = 0; i < o->n; i++) {
		o->each[i] = count + i, o->mine[i] = count + o->me;
		o->starts[i] = i * count + i * (i - 1) / 2, o->my_starts[i] = i * (count + o->me);
		o->places[i] = (MPI_Aint)sizeof(int) * o->starts[i];
		o->my_places[i] = (MPI_Aint)sizeof(int) * o->my_starts[i];
		o->bytes[i] = (int)o->places[i], o->my_bytes[i] = (int)o->my_places[i];
		o->types[i] = MPI_INT;
	}
	int *in = o->in, *out = o->out, c = count, r = o->root;
	MPI_Info info = MPI_INFO_NULL;
	MPI_Request *q = &o->request;
	int rc = MPI_SUCCESS;
	switch (kind) {
	case BARRIER:
		rc = MPI_Barrier_init(comm, info, q);
		break;
	case BCAST:
		rc = MPI_Bcast_init(o->me == r ? in : out, c, MPI_INT, r, comm, info, q);
		break;
	case REDUCE:
		rc = MPI_Reduce_init(in, out, c, MPI_INT, MPI_SUM, r, comm, info, q);
		break;
	case ALLREDUCE:
		rc = MPI_Allreduce_init(in, out, c, MPI_INT, MPI_SUM, comm, info, q);
		break;
	case GATHER:
		rc = MPI_Gather_init(in, c, MPI_INT, out, c, MPI_INT, r, comm, info, q);
		break;
	case GATHERV:
		rc = MPI_Gatherv_init(in, c + o->me, MPI_INT, out, o->each, o->starts, MPI_INT, r, comm, info, q);
		break;
	case SCATTER:
		rc = MPI_Scatter_init(in, c, MPI_INT, out, c, MPI_INT, r, comm, info, q);
		break;
	case SCATTERV:
		rc = MPI_Scatterv_init(in, o->each, o->starts, MPI_INT, out, c + o->me, MPI_INT, r, comm, info, q);
		break;
	case ALLGATHER:
		rc = MPI_Allgather_init(in, c, MPI_INT, out, c, MPI_INT, comm, info, q);
		break;
	case ALLGATHERV:
		rc = MPI_Allgatherv_init(in, c + o->me, MPI_INT, out, o->each, o->starts, MPI_INT, comm, info, q);
		break;
	case ALLTOALL:
		rc = MPI_Alltoall_init(in, c, MPI_INT, out, c, MPI_INT, comm, info, q);
		break;
	case ALLTOALLV:
		rc = MPI_Alltoallv_init(in, o->each, o->starts, MPI_INT, out, o->mine, o->my_starts, MPI_INT, comm,
					info, q);
		break;
	case ALLTOALLW:
		rc = MPI_Alltoallw_init(in, o->each, o->bytes, o->types, out, o->mine, o->my_bytes, o->types, comm,
					info, q);
		break;
	case REDUCE_SCATTER:
		rc = MPI_Reduce_scatter_init(in, out, o->each, MPI_INT, MPI_SUM, comm, info, q);
		break;
	case REDUCE_SCATTER_BLOCK:
		rc = MPI_Reduce_scatter_block_init(in, out, c, MPI_INT, MPI_SUM, comm, info, q);
		break;
	case SCAN:
		rc = MPI_Scan_init(in, out, c, MPI_INT, MPI_SUM, comm, info, q);
		break;
	case EXSCAN:
		rc = MPI_Exscan_init(in, out, c, MPI_INT, MPI_SUM, comm, info, q);
		break;
	case NEIGHBOR_ALLGATHER:
		rc = MPI_Neighbor_allgather_init(in, c, MPI_INT, out, c, MPI_INT, comm, info, q);
		break;
	case NEIGHBOR_ALLGATHERV:
		rc = MPI_Neighbor_allgatherv_init(in, c + o->me, MPI_INT, out, o->each, o->starts, MPI_INT, comm, info,
						  q);
		break;
	case NEIGHBOR_ALLTOALL:
		rc = MPI_Neighbor_alltoall_init(in, c, MPI_INT, out, c, MPI_INT, comm, info, q);
		break;
	case NEIGHBOR_ALLTOALLV:
		rc = MPI_Neighbor_alltoallv_init(in, o->each, o->starts, MPI_INT, out, o->mine, o->my_starts, MPI_INT,
						 comm, info, q);
		break;
	case NEIGHBOR_ALLTOALLW:
		rc = MPI_Neighbor_alltoallw_init(in, o->each, o->places, o->types, out, o->mine, o->my_places, o->types,
						 comm, info, q);
		break;
	case KINDS:
		break;
	}
	CHECK(rc == MPI_SUCCESS, "initializing a collective of kind %d gave %s", kind, check_string(rc));
}

/* Writes the operands of a round. */
static void fill(struct op *o, int round) {
	o->round = round;
	size_t all = (size_t)o->n * ((size_t)o->count + (size_t)o->n);
	for (size_t i = 0; i < all; i++)
		o->in[i] = element(o, o->me, (int)i), o->out[i] = -1;
}

/* Checks that the count elements at out[at] are those of member `from`, starting with element `first`. */
static void is_of(const struct op *o, int at, int count, int from, int first) {
	for (int i = 0; i < count; i++)
		if (o->out[at + i] != element(o, from, first + i)) {
			CHECK(0, "kind %d, number %d, round %d: element %d is %d, not %d of member %d", o->kind,
			      o->number, o->round, at + i, o->out[at + i], element(o, from, first + i), from);
			return;
		}
}

/* Checks `count` elements of the result, starting with element `first`. Each must be the sum of this element over the
 * members 0 to upto - 1. */
static void is_sum(const struct op *o, int count, int first, int upto) {
	for (int i = 0; i < count; i++) {
		int sum = 0;
		for (int p = 0; p < upto; p++)
			sum = (int)((unsigned)sum + (unsigned)element(o, p, first + i));
		if (o->out[i] != sum) {
			CHECK(0, "kind %d, number %d, round %d: element %d is %d, not %d", o->kind, o->number, o->round,
			      i, o->out[i], sum);
			return;
		}
	}
}

static void look(const struct op *o) {
	int c = o->count;
	switch (o->kind) {
	case BARRIER:
	case KINDS:
		break;
	case BCAST:
		if (o->me != o->root)
			is_of(o, 0, c, o->root, 0);
		break;
	case REDUCE:
		if (o->me == o->root)
			is_sum(o, c, 0, o->n);
		break;
	case ALLREDUCE:
		is_sum(o, c, 0, o->n);
		break;
	case GATHER:
	case ALLGATHER:
	case NEIGHBOR_ALLGATHER:
		for (int p = 0; p < o->n && (o->kind != GATHER || o->me == o->root); p++)
			is_of(o, p * c, c, p, 0);
		break;
	case GATHERV:
	case ALLGATHERV:
	case NEIGHBOR_ALLGATHERV:
		for (int p = 0; p < o->n && (o->kind != GATHERV || o->me == o->root); p++)
			is_of(o, o->starts[p], o->each[p], p, 0);
		break;
	case SCATTER:
		is_of(o, 0, c, o->root, o->me * c);
		break;
	case SCATTERV:
		is_of(o, 0, c + o->me, o->root, o->starts[o->me]);
		break;
	case ALLTOALL:
	case NEIGHBOR_ALLTOALL:
		for (int p = 0; p < o->n; p++)
			is_of(o, p * c, c, p, o->me * c);
		break;
	case ALLTOALLV:
	case ALLTOALLW:
	case NEIGHBOR_ALLTOALLV:
	case NEIGHBOR_ALLTOALLW:
		for (int p = 0; p < o->n; p++)
			is_of(o, o->my_starts[p], c + o->me, p, o->starts[o->me]);
		break;
	case REDUCE_SCATTER:
		is_sum(o, c + o->me, o->starts[o->me], o->n);
		break;
	case REDUCE_SCATTER_BLOCK:
		is_sum(o, c, o->me * c, o->n);
		break;
	case SCAN:
		is_sum(o, c, 0, o->me + 1);
		break;
	case EXSCAN:
		if (o->me > 0)
			is_sum(o, c, 0, o->me);
		break;
	}
}

static void drop(struct op *o) {
	CHECK_OK(MPI_Request_free(&o->request));
	CHECK(o->request == MPI_REQUEST_NULL, "the handle of a freed request is still there");
	free(o->in), free(o->out), free(o->each), free(o->starts), free(o->mine), free(o->my_starts);
	free(o->places), free(o->my_places), free(o->bytes), free(o->my_bytes), free(o->types);
}

/* Creates a communicator in which each member is a neighbor of all members, itself included. */
static MPI_Comm everybody(MPI_Comm comm) {
	int n;
	MPI_Comm_size(comm, &n);
	int *list = room((size_t)n, sizeof *list);
	for (int i = 0; i < n; i++)
		list[i] = i;
	MPI_Comm to;
	MPI_Dist_graph_create_adjacent(comm, n, list, MPI_UNWEIGHTED, n, list, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &to);
	free(list);
	MPI_Comm_set_errhandler(to, MPI_ERRORS_RETURN);
	return to;
}

static uint64_t own; /* state of the random numbers that only this rank draws */

static int draw(int below) { return (int)(check_random(&own) % (uint64_t)below); }

/* Stores a permutation of the numbers below n, different at each rank. */
static void shuffle(int *order, int n) {
	for (int i = 0; i < n; i++)
		order[i] = i;
	for (int i = n - 1; i > 0; i--) {
		int k = draw(i + 1), x = order[i];
		order[i] = order[k], order[k] = x;
	}
}

/* Runs a round of n collectives, started and completed in an order specific to this rank. */
static void round_of(struct op *ops, int n, int round) {
	int *order = room((size_t)n, sizeof *order);
	MPI_Request *list = room((size_t)n, sizeof *list);
	for (int i = 0; i < n; i++)
		fill(&ops[i], round);
	shuffle(order, n);
	for (int i = 0; i < n; i++)
		list[i] = ops[order[i]].request;
	if (draw(2) == 0)
		CHECK_OK(MPI_Startall(n, list));
	else
		for (int i = 0; i < n; i++)
			CHECK_OK(MPI_Start(&list[i]));
	if (draw(2) == 0) {
		CHECK_OK(MPI_Waitall(n, list, MPI_STATUSES_IGNORE));
	} else {
		shuffle(order, n);
		for (int i = 0; i < n; i++)
			CHECK_OK(MPI_Wait(&list[order[i]], MPI_STATUS_IGNORE));
	}
	for (int i = 0; i < n; i++)
		look(&ops[i]);
	free(order), free(list);
}

static void kinds(MPI_Comm comm) {
	static const int counts[] = {1, 20, 700, 40000};
	for (int kind = 0; kind < KINDS; kind++)
		for (int c = 0; c < 4; c++) {
			struct op o[2];
			for (int i = 0; i < 2; i++)
				make(&o[i], (enum kind)kind, i, counts[c], comm);
			for (int round = 0; round < 3; round++) {
				int first = (o[0].me + round) % 2;
				for (int i = 0; i < 2; i++)
					fill(&o[i], round);
				CHECK_OK(MPI_Start(&o[first].request));
				CHECK_OK(MPI_Start(&o[!first].request));
				for (int i = 0; i < 2; i++) {
					CHECK_OK(MPI_Wait(&o[i].request, MPI_STATUS_IGNORE));
					look(&o[i]);
				}
			}
			for (int i = 0; i < 2; i++)
				drop(&o[i]);
		}
}

static void mixed(MPI_Comm comm, int all, int rounds) {
	static const int counts[] = {1, 3, 60, 1000, 5000};
	struct op *o = room((size_t)all, sizeof *o);
	for (int i = 0; i < all; i++)
		make(&o[i], (enum kind)(i % KINDS), i, counts[i % 5], comm);
	for (int round = 0; round < rounds; round++)
		round_of(o, all, round);
	for (int i = 0; i < all; i++)
		drop(&o[i]);
	free(o);
}

/* Starts persistent collectives in an order that differs at each member. The nonblocking and blocking collectives
 * between them are in the same order at all members. */
static void beside(MPI_Comm comm) {
	enum { OPS = 6, ROUNDS = 60 };
	static const enum kind of[OPS] = {ALLREDUCE, BCAST, ALLREDUCE, ALLREDUCE, BARRIER, BCAST};
	struct op o[OPS];
	int me, n;
	MPI_Comm_rank(comm, &me), MPI_Comm_size(comm, &n);
	for (int i = 0; i < OPS; i++)
		make(&o[i], of[i], i, i % 2 == 0 ? 4 : 3000, comm);
	for (int round = 0; round < ROUNDS; round++) {
		int order[OPS], in[3], sum[3], when[3], now = 0;
		MPI_Request r[3];
		shuffle(order, OPS);
		for (int i = 0; i < 3; i++)
			in[i] = round * 10 + i + me, when[i] = draw(OPS);
		for (int i = 0; i < OPS; i++)
			fill(&o[i], round);
		for (int i = 0; i < OPS; i++) {
			CHECK_OK(MPI_Start(&o[order[i]].request));
			for (; now < 2 && when[now] <= i; now++)
				CHECK_OK(MPI_Iallreduce(&in[now], &sum[now], 1, MPI_INT, MPI_SUM, comm, &r[now]));
		}
		for (; now < 2; now++)
			CHECK_OK(MPI_Iallreduce(&in[now], &sum[now], 1, MPI_INT, MPI_SUM, comm, &r[now]));
		CHECK_OK(MPI_Allreduce(&in[2], &sum[2], 1, MPI_INT, MPI_SUM, comm));
		CHECK_OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
		for (int i = 0; i < 3; i++)
			CHECK(sum[i] == n * (round * 10 + i) + n * (n - 1) / 2, "round %d: sum %d is %d", round, i,
			      sum[i]);
		for (int i = 0; i < OPS; i++)
			CHECK_OK(MPI_Wait(&o[i].request, MPI_STATUS_IGNORE));
		for (int i = 0; i < OPS; i++)
			look(&o[i]);
	}
	for (int i = 0; i < OPS; i++)
		drop(&o[i]);
}

static void *rounds_of_thread(void *one) {
	struct op *o = one;
	for (int round = 0; round < 100; round++) {
		fill(o, round);
		CHECK_OK(MPI_Start(&o->request));
		CHECK_OK(MPI_Wait(&o->request, MPI_STATUS_IGNORE));
		look(o);
	}
	return NULL;
}

static void threads(MPI_Comm comm) {
	enum { OPS = 5 };
	static const enum kind of[OPS] = {ALLREDUCE, ALLREDUCE, BCAST, ALLTOALLV, REDUCE_SCATTER};
	static const int counts[OPS] = {4, 20000, 100, 50, 3};
	struct op o[OPS];
	pthread_t t[OPS];
	int supported;
	MPI_Query_thread(&supported);
	for (int i = 0; i < OPS; i++)
		make(&o[i], of[i], i, counts[i], comm);
	if (supported == MPI_THREAD_MULTIPLE) {
		for (int i = 0; i < OPS; i++)
			pthread_create(&t[i], NULL, rounds_of_thread, &o[i]);
		for (int i = 0; i < OPS; i++)
			pthread_join(t[i], NULL);
	}
	for (int i = 0; i < OPS; i++)
		drop(&o[i]);
}

/* Starts each request again as soon as it is complete, so members are at different rounds of each request. */
static void ahead(MPI_Comm comm) {
	enum { OPS = 8, ROUNDS = 60 };
	static const enum kind of[OPS] = {BCAST, REDUCE, BCAST, SCAN, SCATTER, GATHERV, BCAST, ALLREDUCE};
	static const int counts[OPS] = {1, 2, 1500, 5, 300, 40, 50000, 1};
	struct op o[OPS];
	MPI_Request list[OPS];
	for (int i = 0; i < OPS; i++)
		make(&o[i], of[i], i, counts[i], comm);
	for (int i = 0; i < OPS; i++) {
		int k = o[0].me % 2 == 0 ? i : OPS - 1 - i;
		fill(&o[k], 0);
		CHECK_OK(MPI_Start(&o[k].request));
	}
	for (int i = 0; i < OPS; i++)
		list[i] = o[i].request;
	for (int left = OPS * ROUNDS; left > 0; left--) {
		int i = MPI_UNDEFINED;
		CHECK_OK(MPI_Waitany(OPS, list, &i, MPI_STATUS_IGNORE));
		CHECK(i != MPI_UNDEFINED, "no request is active, %d rounds are left", left);
		if (i == MPI_UNDEFINED)
			break;
		look(&o[i]);
		if (o[i].round + 1 == ROUNDS)
			continue;
		fill(&o[i], o[i].round + 1);
		CHECK_OK(MPI_Start(&list[i]));
	}
	for (int i = 0; i < OPS; i++)
		drop(&o[i]);
}

/* Uses a request on a new communicator after a smaller communicator was freed. The library may reuse the shared memory
 * of the freed communicator, and must not take the old contents of this memory for counters of the new one. */
static void after_others(MPI_Comm comm) {
	enum { TURNS = 30, MANY = 256 };
	static long long in[MANY], out[2 * MANY];
	int me;
	MPI_Comm_rank(comm, &me);
	for (int i = 0; i < MANY; i++)
		in[i] = 2;
	for (int turn = 0; turn < TURNS; turn++) {
		MPI_Comm pair, twin;
		struct op o;
		MPI_Comm_split(comm, me < 2 ? 0 : MPI_UNDEFINED, me, &pair);
		for (int i = 0; i < 5 && pair != MPI_COMM_NULL; i++) {
			MPI_Request r;
			MPI_Iallgather(in, MANY, MPI_LONG_LONG, out, MANY, MPI_LONG_LONG, pair, &r);
			MPI_Wait(&r, MPI_STATUS_IGNORE);
			MPI_Allgather(in, MANY, MPI_LONG_LONG, out, MANY, MPI_LONG_LONG, pair);
		}
		if (pair != MPI_COMM_NULL)
			MPI_Comm_free(&pair);
		MPI_Comm_dup(comm, &twin);
		make(&o, ALLREDUCE, turn, 3, twin);
		round_of(&o, 1, turn);
		drop(&o);
		MPI_Comm_free(&twin);
	}
}

static void again(MPI_Comm comm) {
	enum { OPS = 12, TURNS = 60 };
	struct op o[OPS];
	for (int turn = 0; turn < TURNS; turn++) {
		int order[OPS];
		for (int i = 0; i < OPS; i++)
			make(&o[i], (enum kind)((turn + i) % PLAIN), turn * OPS + i, i < 9 ? 5 : 900, comm);
		if (turn % 3 != 2) /* in every third turn, the requests are freed without a start */
			round_of(o, OPS, turn);
		shuffle(order, OPS);
		for (int i = 0; i < OPS; i++)
			drop(&o[order[i]]);
	}
	/* Four requests stay alive while other requests are created and freed. */
	struct op stays[4];
	for (int i = 0; i < 4; i++)
		make(&stays[i], (enum kind)(ALLREDUCE + i), 7000 + i, 30, comm);
	for (int turn = 0; turn < 100; turn++) {
		make(&o[0], ALLGATHER, 8000 + turn, 2, comm);
		fill(&o[0], 0);
		CHECK_OK(MPI_Start(&o[0].request));
		if (turn % 10 == 0)
			round_of(stays, 4, turn);
		CHECK_OK(MPI_Wait(&o[0].request, MPI_STATUS_IGNORE));
		look(&o[0]);
		drop(&o[0]);
	}
	for (int i = 0; i < 4; i++)
		drop(&stays[3 - i]);
}

static void comms(MPI_Comm comm) {
	MPI_Comm half, twin;
	int me, n;
	MPI_Comm_rank(comm, &me), MPI_Comm_size(comm, &n);
	MPI_Comm_split(comm, me % 2, -me, &half);
	MPI_Comm_dup(comm, &twin);
	enum { OPS = 9 };
	struct op o[OPS];
	MPI_Comm all[3] = {comm, half, twin};
	for (int i = 0; i < OPS; i++)
		make(&o[i], (enum kind)(BCAST + i), i, 10 * i, all[i % 3]);
	/* The requests stay valid after their communicator is freed. */
	MPI_Comm_free(&half);
	MPI_Comm_free(&twin);
	for (int round = 0; round < 10; round++)
		round_of(o, OPS, round);
	for (int i = 0; i < OPS; i++)
		drop(&o[(i * 5 + me) % OPS]);
	if (n < 2)
		return;
	/* Persistent collectives of an intercommunicator. */
	MPI_Comm inter;
	MPI_Comm_split(comm, me % 2, 0, &half);
	MPI_Intercomm_create(half, 0, comm, 1 - me % 2, 3, &inter);
	MPI_Request r[2];
	int in[2] = {1 + me, 100 + 3 * me}, out[2] = {-1, -1}, sum[2] = {0, 0};
	for (int i = 1 - me % 2; i < n; i += 2)
		sum[0] += 1 + i, sum[1] += 100 + 3 * i;
	for (int i = 0; i < 2; i++)
		CHECK_OK(MPI_Allreduce_init(&in[i], &out[i], 1, MPI_INT, MPI_SUM, inter, MPI_INFO_NULL, &r[i]));
	for (int round = 0; round < 5; round++) {
		out[0] = out[1] = -1;
		int first = (me / 2 + me + round) % 2;
		CHECK_OK(MPI_Start(&r[first]));
		CHECK_OK(MPI_Start(&r[!first]));
		CHECK_OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
		for (int i = 0; i < 2; i++)
			CHECK(out[i] == sum[i], "two groups: sum %d is %d, not %d", i, out[i], sum[i]);
	}
	for (int i = 0; i < 2; i++)
		CHECK_OK(MPI_Request_free(&r[i]));
	MPI_Comm_free(&half);
	MPI_Comm_free(&inter);
}

static void hint(MPI_Comm comm) {
	MPI_Info info;
	MPI_Comm twin;
	MPI_Info_create(&info);
	MPI_Info_set(info, "mpi_assert_strict_persistent_collective_ordering", "true");
	MPI_Comm_dup_with_info(comm, info, &twin);
	MPI_Info_free(&info);
	struct op o[8];
	for (int i = 0; i < 8; i++)
		make(&o[i], (enum kind)(REDUCE + i % 4), i, i < 4 ? 3 : 2000, twin);
	for (int round = 0; round < 10; round++) {
		for (int i = 0; i < 8; i++)
			fill(&o[i], round);
		for (int i = 0; i < 8; i++)
			CHECK_OK(MPI_Start(&o[i].request));
		for (int i = 0; i < 8; i++) {
			CHECK_OK(MPI_Wait(&o[i].request, MPI_STATUS_IGNORE));
			look(&o[i]);
		}
	}
	for (int i = 0; i < 8; i++)
		drop(&o[i]);
	MPI_Comm_free(&twin);
}

int main(int argc, char **argv) {
	check_begin_threads(&argc, &argv);
	own = (uint64_t)check_rank * 977 + 5;
	MPI_Comm comm = everybody(MPI_COMM_WORLD);
	if (strcmp(check_arg, "kinds") == 0)
		kinds(comm);
	if (strcmp(check_arg, "mixed") == 0)
		mixed(comm, 2 * KINDS, 20);
	if (strcmp(check_arg, "beside") == 0)
		beside(comm);
	if (strcmp(check_arg, "threads") == 0)
		threads(comm);
	if (strcmp(check_arg, "ahead") == 0)
		ahead(comm);
	if (strcmp(check_arg, "many") == 0)
		mixed(comm, 150, 5);
	if (strcmp(check_arg, "again") == 0) {
		again(comm);
		after_others(MPI_COMM_WORLD);
	}
	if (strcmp(check_arg, "comms") == 0)
		comms(comm);
	if (strcmp(check_arg, "hint") == 0)
		hint(comm);
	MPI_Comm_free(&comm);
	return check_end();
}
