/* Proves: MPI_Wait, Test, Waitany, Testany, Waitall, Testall, Waitsome and Testsome return the right request indices
 *   and statuses. The array may also contain null requests. If all requests are null, the calls return the empty status
 *   and MPI_UNDEFINED. Completed requests become MPI_REQUEST_NULL. MPI-5.0 3.7.3, 3.7.5
 * np: 2 4
 * args: wait waitany waitall waitsome null
 * ref: mpich
 * timeout: 30
 */
#include "../check.h"

enum { N = 24, TIMES = 15 };

static int value(int sender, int i, int time) { return sender * 100000 + time * 100 + i; }

static void check_status(const MPI_Status *s, int source, int i) {
	int count;
	MPI_Get_count(s, MPI_INT, &count);
	CHECK(s->MPI_SOURCE == source && s->MPI_TAG == i && count == i % 3 + 1,
	      "message %d: from %d, tag %d, %d elements", i, s->MPI_SOURCE, s->MPI_TAG, count);
}

static void receive(int other, int time) {
	int in[N + 2][4], done[N + 2] = {0}, left = N, which, flag, number, list[N + 2], blocking = time % 2;
	MPI_Request r[N + 2];
	MPI_Status s[N + 2];
	memset(in, 0xff, sizeof in);
	for (int i = 0; i < N; i++)
		MPI_Irecv(in[i], 4, MPI_INT, i % 4 ? other : MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &r[i]);
	r[N] = r[N + 1] = MPI_REQUEST_NULL;
	MPI_Sendrecv(&time, 1, MPI_INT, other, 999, &flag, 1, MPI_INT, other, 999, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (strcmp(check_arg, "wait") == 0) {
		for (int k = 0; k < N; k++) {
			int i = k * 7 % N;
			if (blocking)
				MPI_Wait(&r[i], &s[i]);
			else
				for (flag = 0; !flag;)
					MPI_Test(&r[i], &flag, &s[i]);
			check_status(&s[i], other, i);
		}
	} else if (strcmp(check_arg, "waitany") == 0) {
		while (left > 0) {
			which = -5;
			flag = 1;
			if (blocking)
				MPI_Waitany(N + 2, r, &which, &s[0]);
			else
				MPI_Testany(N + 2, r, &which, &flag, &s[0]);
			if (!flag) {
				CHECK(which == MPI_UNDEFINED, "nothing is done, index %d", which);
				continue;
			}
			CHECK(which >= 0 && which < N && !done[which], "index %d", which);
			if (which < 0 || which >= N)
				return;
			done[which] = 1;
			check_status(&s[0], other, which);
			left--;
		}
	} else if (strcmp(check_arg, "waitall") == 0) {
		if (blocking)
			MPI_Waitall(N + 2, r, s);
		else
			for (flag = 0; !flag;)
				MPI_Testall(N + 2, r, &flag, s);
		for (int i = 0; i < N; i++)
			check_status(&s[i], other, i);
	} else {
		while (left > 0) {
			if (blocking)
				MPI_Waitsome(N + 2, r, &number, list, s);
			else
				MPI_Testsome(N + 2, r, &number, list, s);
			CHECK(number >= blocking && number <= left, "%d of %d are done", number, left);
			if (number == MPI_UNDEFINED)
				return;
			for (int k = 0; k < number; k++) {
				CHECK(list[k] >= 0 && list[k] < N && !done[list[k]], "index %d", list[k]);
				done[list[k]] = 1;
				check_status(&s[k], other, list[k]);
			}
			left -= number;
		}
	}
	for (int i = 0; i < N; i++) {
		CHECK(r[i] == MPI_REQUEST_NULL, "request %d is not null", i);
		for (int k = 0; k < 4; k++)
			CHECK(in[i][k] == (k < i % 3 + 1 ? value(other, i, time) + k : -1),
			      "message %d, element %d is %d", i, k, in[i][k]);
	}
}

static void send(int other, int time) {
	int out[N][3], got;
	MPI_Request r[N];
	MPI_Sendrecv(&time, 1, MPI_INT, other, 999, &got, 1, MPI_INT, other, 999, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	for (int k = 0; k < N; k++) {
		int i = (k * 5 + time) % N;
		for (int e = 0; e < 3; e++)
			out[i][e] = value(check_rank, i, time) + e;
		MPI_Isend(out[i], i % 3 + 1, MPI_INT, other, i, MPI_COMM_WORLD, &r[i]);
	}
	MPI_Waitall(N, r, MPI_STATUSES_IGNORE);
}

/* Tests calls with null requests only, and without requests. */
static void nulls(void) {
	MPI_Request r[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
	MPI_Status s[3];
	int flag = 0, which = 5, number = 5, list[3], count;
	memset(s, 0x55, sizeof s);
	CHECK_OK(MPI_Wait(&r[0], &s[0]));
	MPI_Get_count(&s[0], MPI_INT, &count);
	CHECK(s[0].MPI_SOURCE == MPI_ANY_SOURCE && s[0].MPI_TAG == MPI_ANY_TAG && count == 0,
	      "the empty status: %d, %d, %d", s[0].MPI_SOURCE, s[0].MPI_TAG, count);
	CHECK_OK(MPI_Test(&r[0], &flag, &s[1]));
	CHECK(flag == 1, "test of a null request: %d", flag);
	CHECK_OK(MPI_Waitany(3, r, &which, &s[0]));
	CHECK(which == MPI_UNDEFINED, "waitany of null requests: %d", which);
	flag = 0, which = 5;
	CHECK_OK(MPI_Testany(3, r, &which, &flag, &s[0]));
	CHECK(which == MPI_UNDEFINED && flag == 1, "testany of null requests: %d, %d", which, flag);
	CHECK_OK(MPI_Waitsome(3, r, &number, list, s));
	CHECK(number == MPI_UNDEFINED, "waitsome of null requests: %d", number);
	number = 5;
	CHECK_OK(MPI_Testsome(3, r, &number, list, s));
	CHECK(number == MPI_UNDEFINED, "testsome of null requests: %d", number);
	memset(s, 0x55, sizeof s);
	CHECK_OK(MPI_Waitall(3, r, s));
	for (int i = 0; i < 3; i++)
		CHECK(s[i].MPI_SOURCE == MPI_ANY_SOURCE && s[i].MPI_TAG == MPI_ANY_TAG, "waitall's status %d: %d, %d",
		      i, s[i].MPI_SOURCE, s[i].MPI_TAG);
	flag = 0;
	CHECK_OK(MPI_Testall(3, r, &flag, s));
	CHECK(flag == 1, "testall of null requests: %d", flag);
	CHECK_OK(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE));
	CHECK_OK(MPI_Waitany(0, NULL, &which, MPI_STATUS_IGNORE));
	CHECK(which == MPI_UNDEFINED, "waitany of no requests: %d", which);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	if (strcmp(check_arg, "null") == 0)
		nulls();
	else
		for (int time = 0; time < TIMES; time++)
			if (check_rank % 2)
				receive(check_rank - 1, time);
			else
				send(check_rank + 1, time);
	return check_end();
}
