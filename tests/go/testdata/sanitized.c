/* sanitized [little|wrong]: makes calls of every kind, by several threads. With "little" it makes only a few calls.
 * With "wrong" it also has a leak and a race, which the sanitizer must report. */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { N = 100000, THREADS = 3, ROUNDS = 30 };
static int rank, size, next, before, shared;

static void add(void *in, void *inout, int *n, MPI_Datatype *type) {
	(void)type;
	for (int i = 0; i < *n; i++)
		((int *)inout)[i] += ((int *)in)[i];
}

static void windows(void) {
	double *memory, x = rank, y;
	MPI_Win win;
	for (int kind = 0; kind < 2; kind++) {
		double *own = calloc(512, sizeof *own);
		if (kind == 0)
			MPI_Win_allocate(4096, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
		else
			MPI_Win_create(own, 4096, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
		MPI_Win_fence(0, win);
		MPI_Put(&x, 1, MPI_DOUBLE, next, 0, 1, MPI_DOUBLE, win);
		MPI_Win_fence(0, win);
		MPI_Get(&y, 1, MPI_DOUBLE, next, 0, 1, MPI_DOUBLE, win);
		MPI_Win_fence(0, win);
		MPI_Win_lock_all(0, win);
		MPI_Accumulate(&x, 1, MPI_DOUBLE, 0, 3, 1, MPI_DOUBLE, MPI_SUM, win);
		MPI_Fetch_and_op(&x, &y, MPI_DOUBLE, 0, 4, MPI_SUM, win);
		MPI_Win_unlock_all(win);
		MPI_Win_free(&win);
		free(own);
	}
}

static void messages(int *from, int *to) {
	MPI_Request r[40], persistent;
	for (int i = 0; i < 20; i++)
		MPI_Isend(from, 100 * i, MPI_INT, next, i, MPI_COMM_WORLD, &r[i]);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 19; i >= 0; i--)
		MPI_Irecv(to + 2000 * i, 2000, MPI_INT, before, i, MPI_COMM_WORLD, &r[20 + i]);
	MPI_Waitall(40, r, MPI_STATUSES_IGNORE);
	MPI_Sendrecv(from, N, MPI_INT, next, 99, to, N, MPI_INT, before, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Send_init(from, 10, MPI_INT, next, 5, MPI_COMM_WORLD, &persistent);
	MPI_Start(&persistent);
	MPI_Recv(to, 10, MPI_INT, before, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Wait(&persistent, MPI_STATUS_IGNORE);
	MPI_Request_free(&persistent);
}

static void collectives(int *from, int *to) {
	MPI_Request r;
	MPI_Op op;
	MPI_Comm cart;
	int dims = size, periods = 1;
	MPI_Op_create(add, 1, &op);
	MPI_Allreduce(from, to, 1000, MPI_INT, op, MPI_COMM_WORLD);
	MPI_Reduce(from, to, N, MPI_INT, op, 0, MPI_COMM_WORLD);
	MPI_Op_free(&op);
	MPI_Iallreduce(from, to, 100, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	MPI_Allgather(from, 10, MPI_INT, to, 10, MPI_INT, MPI_COMM_WORLD);
	MPI_Alltoall(from, 10, MPI_INT, to, 10, MPI_INT, MPI_COMM_WORLD);
	MPI_Bcast(from, N, MPI_INT, 0, MPI_COMM_WORLD);
	MPI_Cart_create(MPI_COMM_WORLD, 1, &dims, &periods, 0, &cart);
	MPI_Comm_free(&cart);
}

static void types(int *from, int *to) {
	MPI_Datatype type, parts[2] = {MPI_INT, MPI_DOUBLE};
	int lengths[2] = {1, 2};
	MPI_Aint at[2] = {0, 16};
	MPI_Type_create_struct(2, lengths, at, parts, &type);
	MPI_Type_commit(&type);
	MPI_Sendrecv(from, 100, type, next, 7, to, 100, type, before, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Type_free(&type);
}

static void *work(void *arg) {
	MPI_Comm c = *(MPI_Comm *)arg;
	for (int i = 0; i < ROUNDS; i++) {
		int one = 1, sum, buffer[16] = {0};
		MPI_Datatype type;
		MPI_Request r[2];
		MPI_Group group;
		MPI_Info info;
		MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, c);
		MPI_Type_vector(2 + i % 3, 1, 2, MPI_INT, &type);
		MPI_Type_commit(&type);
		MPI_Irecv(buffer + 8, 1, MPI_INT, before, 1, c, &r[0]);
		MPI_Isend(buffer, 1, MPI_INT, next, 1, c, &r[1]);
		MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
		MPI_Type_free(&type);
		MPI_Comm_group(c, &group);
		MPI_Group_free(&group);
		MPI_Info_create(&info);
		MPI_Info_set(info, "key", "value");
		MPI_Info_free(&info);
	}
	return NULL;
}

static void *store(void *arg) {
	shared++;
	return arg;
}

int main(int argc, char **argv) {
	const char *what = argc > 1 ? argv[1] : "";
	pthread_t threads[THREADS];
	MPI_Comm comms[THREADS];
	int provided;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	next = (rank + 1) % size, before = (rank + size - 1) % size;
	if (strcmp(what, "little") == 0) {
		MPI_Sendrecv(&rank, 1, MPI_INT, next, 1, &shared, 1, MPI_INT, before, 1, MPI_COMM_WORLD,
			     MPI_STATUS_IGNORE);
		MPI_Finalize();
		return 0;
	}
	int *from = calloc(N, sizeof *from), *to = calloc(N, sizeof *to);
	windows();
	messages(from, to);
	collectives(from, to);
	types(from, to);
	free(from);
	free(to);
	for (int i = 0; i < THREADS; i++)
		MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, &comms[i]);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		MPI_Comm_free(&comms[i]);
	}
	if (strcmp(what, "wrong") == 0) {
		void *volatile lost = malloc(77);
		lost = NULL;
		(void)lost;
		for (int i = 0; i < 2; i++)
			pthread_create(&threads[i], NULL, store, NULL);
		for (int i = 0; i < 2; i++)
			pthread_join(threads[i], NULL);
	}
	MPI_Finalize();
	return 0;
}
