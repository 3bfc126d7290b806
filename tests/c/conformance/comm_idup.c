/* Proves: MPI_Comm_idup works among other nonblocking collectives, several at once, and on duplicates. Members complete
 *   the requests in different orders, also by MPI_Test and MPI_Request_get_status. A member can compute while the other
 *   members complete their requests. The duplicate inherits attributes, error handler, topology and hints. The program
 *   may free the communicator before the duplicate is complete. Covers MPI_COMM_SELF and intercommunicators. MPI-5.0
 *   7.4.2
 * np: 1 2 5
 * ref: mpich
 * timeout: 60
 */
#include <unistd.h>

#include "../check.h"

enum { MANY = 40 }; /* 40 duplicates need more shared memory than the library maps at first */

static int copies;

static int copied(MPI_Comm from, int key, void *state, void *in, void *out, int *flag) {
	(void)from, (void)key, (void)state;
	copies++;
	*(void **)out = (char *)in + 1;
	*flag = 1;
	return MPI_SUCCESS;
}

static void sums(MPI_Comm c, const char *what) {
	int size, sum = 0, one = 1;
	MPI_Comm_size(c, &size);
	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, c);
	CHECK(sum == size, "%s: %d of %d", what, sum, size);
}

/* Starts duplicates between other collectives. The library numbers all collectives of a communicator in call order, so
 * it must also count duplicates. */
static void among_others(MPI_Comm c) {
	MPI_Comm made[MANY];
	MPI_Request r[3 * MANY];
	int told[MANY], all[MANY], done = 0;
	for (int i = 0; i < MANY; i++) {
		made[i] = MPI_COMM_NULL;
		told[i] = check_rank == i % check_size ? 100 + i : -1;
		MPI_Ibcast(&told[i], 1, MPI_INT, i % check_size, c, &r[3 * i]);
		MPI_Comm_idup(c, &made[i], &r[3 * i + 1]);
		MPI_Iallreduce(&check_rank, &all[i], 1, MPI_INT, MPI_MAX, c, &r[3 * i + 2]);
	}
	if (check_rank % 2 == 1) {
		for (int i = 3 * MANY - 1; i >= 0; i--)
			MPI_Wait(&r[i], MPI_STATUS_IGNORE);
	} else {
		for (int i = 0; i < MANY; i++) {
			for (int flag = 0; !flag;)
				MPI_Request_get_status(r[3 * i + 1], &flag, MPI_STATUS_IGNORE);
			CHECK(made[i] != MPI_COMM_NULL, "number %d is complete, and not there", i);
		}
		while (!done)
			MPI_Testall(3 * MANY, r, &done, MPI_STATUSES_IGNORE);
	}
	for (int i = 0; i < MANY; i++) {
		int same;
		CHECK(told[i] == 100 + i && all[i] == check_size - 1, "number %d: %d, %d", i, told[i], all[i]);
		MPI_Comm_compare(c, made[i], &same);
		CHECK(same == MPI_CONGRUENT, "number %d: compares as %d", i, same);
		sums(made[i], "a duplicate");
		MPI_Comm_free(&made[i]);
	}
}

/* Checks what a duplicate inherits from its communicator. */
static void inherits(void) {
	int key, dims[1] = {check_size}, periods[1] = {1}, flag, kind;
	static char base[4];
	MPI_Comm ring, c;
	MPI_Request r;
	MPI_Errhandler e;
	MPI_Info hints, found;
	void *value;
	MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &ring);
	MPI_Comm_create_keyval(copied, MPI_COMM_NULL_DELETE_FN, &key, NULL);
	MPI_Comm_set_attr(ring, key, base);
	MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
	MPI_Info_create(&hints);
	MPI_Info_set(hints, "mpi_assert_no_any_tag", "true");
	copies = 0;
	MPI_Comm_idup_with_info(ring, hints, &c, &r);
	CHECK(copies == 1, "%d copies when the call returns", copies);
	MPI_Comm_set_errhandler(ring, MPI_ERRORS_ARE_FATAL);
	MPI_Comm_delete_attr(ring, key);
	MPI_Comm_free(&ring);
	MPI_Info_free(&hints);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	MPI_Comm_get_attr(c, key, &value, &flag);
	CHECK(flag && value == base + 1, "attribute %d %p", flag, value);
	MPI_Comm_get_errhandler(c, &e);
	CHECK(e == MPI_ERRORS_RETURN, "another error handler");
	MPI_Topo_test(c, &kind);
	CHECK(kind == MPI_CART, "topology %d", kind);
	MPI_Comm_get_info(c, &found);
	MPI_Info_free(&found);
	sums(c, "of a ring that was freed");
	MPI_Comm_free(&c);
	MPI_Comm_free_keyval(&key);
}

/* Duplicates a communicator, then the duplicate, and so on. At each step one member sleeps while the other members
 * wait. */
static void in_turn(void) {
	MPI_Comm c[3];
	MPI_Request r;
	for (int i = 0; i < 3; i++) {
		MPI_Comm_idup(i == 0 ? MPI_COMM_WORLD : c[i - 1], &c[i], &r);
		if (check_rank == i % check_size)
			usleep(20000);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
	}
	for (int i = 0; i < 3; i++) {
		sums(c[i], "of a duplicate");
		MPI_Comm_free(&c[i]);
	}
}

static void of_two_groups(void) {
	MPI_Comm half, two, c[2];
	MPI_Request r[2];
	int size;
	if (check_size < 2)
		return;
	MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, 0, &half);
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - check_rank % 2, 7, &two);
	for (int i = 0; i < 2; i++)
		MPI_Comm_idup(two, &c[i], &r[i]);
	MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	for (int i = 0; i < 2; i++) {
		MPI_Comm_remote_size(c[i], &size);
		CHECK(size == (check_size + check_rank % 2) / 2, "remote size %d", size);
		MPI_Barrier(c[i]);
		MPI_Comm_free(&c[i]);
	}
	MPI_Comm_free(&two);
	MPI_Comm_free(&half);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	MPI_Comm self;
	MPI_Request r;
	among_others(MPI_COMM_WORLD);
	inherits();
	in_turn();
	MPI_Comm_idup(MPI_COMM_SELF, &self, &r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	sums(self, "of MPI_COMM_SELF");
	MPI_Comm_free(&self);
	of_two_groups();
	return check_end();
}
