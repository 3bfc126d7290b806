/* Proves: a matched probe removes its message: no other receive or probe sees it. MPI_Mrecv and MPI_Imrecv receive
 *   it, whatever arrived later. Covers MPI_Improbe without a message, MPI_MESSAGE_NO_PROC, wildcards, two matched
 *   messages at once, and small and large messages. MPI-5.0 3.8.2, 3.8.3
 * np: 2 4
 * ref: mpich
 * nodes: 2
 * timeout: 30
 */
#include "../check.h"

enum { MOST = 50000 };

static int a[MOST], b[MOST];

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	MPI_Message m, m2;
	MPI_Status s;
	MPI_Request r;
	int flag, n;
	MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &m, &s);
	CHECK(!flag, "a message before any was sent");
	MPI_Barrier(MPI_COMM_WORLD);
	const int counts[] = {0, 1, 1000, MOST};
	for (int k = 0; k < 4; k++) {
		int other = check_rank ^ 1;
		if (other >= check_size)
			break;
		for (int i = 0; i < counts[k]; i++)
			a[i] = check_rank * 1000 + i;
		MPI_Request sends[2];
		MPI_Isend(a, counts[k], MPI_INT, other, 4, MPI_COMM_WORLD, &sends[0]);
		MPI_Isend(&k, 1, MPI_INT, other, 4, MPI_COMM_WORLD, &sends[1]);
		if (k % 2)
			MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &m, &s);
		else
			do
				MPI_Improbe(other, 4, MPI_COMM_WORLD, &flag, &m, &s);
			while (!flag);
		MPI_Get_count(&s, MPI_INT, &n);
		CHECK(s.MPI_SOURCE == other && s.MPI_TAG == 4 && n == counts[k], "probed %d from %d with tag %d", n,
		      s.MPI_SOURCE, s.MPI_TAG);
		MPI_Mprobe(other, 4, MPI_COMM_WORLD, &m2, &s);
		int x = -1;
		MPI_Mrecv(&x, 1, MPI_INT, &m2, &s);
		CHECK(x == k && m2 == MPI_MESSAGE_NULL, "second message: %d", x);
		memset(b, 0xff, sizeof b);
		if (k % 2) {
			MPI_Mrecv(b, MOST, MPI_INT, &m, &s);
		} else {
			MPI_Imrecv(b, MOST, MPI_INT, &m, &r);
			MPI_Wait(&r, &s);
		}
		MPI_Get_count(&s, MPI_INT, &n);
		CHECK(m == MPI_MESSAGE_NULL && n == counts[k] && s.MPI_SOURCE == other, "first message: %d from %d", n,
		      s.MPI_SOURCE);
		for (int i = 0; i < n; i++)
			if (b[i] != other * 1000 + i) {
				CHECK(0, "element %d is %d", i, b[i]);
				break;
			}
		CHECK(n == MOST || b[n] == -1, "written behind the message");
		MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
	}
	MPI_Mprobe(MPI_PROC_NULL, 7, MPI_COMM_WORLD, &m, &s);
	CHECK(m == MPI_MESSAGE_NO_PROC && s.MPI_SOURCE == MPI_PROC_NULL && s.MPI_TAG == MPI_ANY_TAG,
	      "no process: source %d, tag %d", s.MPI_SOURCE, s.MPI_TAG);
	MPI_Mrecv(b, MOST, MPI_INT, &m, &s);
	MPI_Get_count(&s, MPI_INT, &n);
	CHECK(m == MPI_MESSAGE_NULL && s.MPI_SOURCE == MPI_PROC_NULL && n == 0, "no process: %d from %d", n,
	      s.MPI_SOURCE);
	return check_end();
}
