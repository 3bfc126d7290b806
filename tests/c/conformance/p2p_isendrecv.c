/* Proves: MPI_Isendrecv and MPI_Isendrecv_replace exchange small and large data, contiguous and with gaps, with another
 *   process, itself and MPI_PROC_NULL. The request is complete when both messages are, and has the receive's status.
 *   The request reports an error of either message, and may be freed while the messages are active. MPI-5.0 3.10
 * np: 2
 * nodes: 2
 * ref: none (MPICH moves no data if a rank exchanges with itself)
 * timeout: 60
 */
#include "../check.h"

enum { MOST = 60000 };

static int from[2 * MOST], to[2 * MOST];

static void fill(int *at, int count, int stride, int value) {
	for (int i = 0; i < count * stride; i++)
		at[i] = i % stride == 0 ? value + i : -1;
}

static void expect(const int *at, int count, int stride, int value) {
	for (int i = 0; i < count * stride; i++)
		if (at[i] != (i % stride == 0 ? value + i : -1)) {
			CHECK(0, "%d of stride %d from %d: [%d] is %d", count, stride, value, i, at[i]);
			return;
		}
}

static void exchange(int count, int stride, int dest, int source, int replace) {
	MPI_Datatype type;
	MPI_Request r;
	MPI_Status s;
	int n, me = check_rank;
	MPI_Type_create_resized(MPI_INT, 0, stride * (MPI_Aint)sizeof(int), &type);
	MPI_Type_commit(&type);
	if (stride == 1)
		MPI_Type_free(&type), type = MPI_INT;
	fill(from, count, stride, 1000 * me);
	fill(to, count, stride, -7);
	if (replace)
		CHECK_OK(MPI_Isendrecv_replace(from, count, type, dest, 3, source, 3, MPI_COMM_WORLD, &r));
	else
		CHECK_OK(MPI_Isendrecv(from, count, type, dest, 3, to, count, type, source, 3, MPI_COMM_WORLD, &r));
	CHECK_OK(MPI_Wait(&r, &s));
	CHECK(r == MPI_REQUEST_NULL, "the request is left");
	MPI_Get_count(&s, type, &n);
	if (source == MPI_PROC_NULL) {
		CHECK(s.MPI_SOURCE == MPI_PROC_NULL && n == 0, "nobody: status %d, %d", s.MPI_SOURCE, n);
		expect(replace ? from : to, count, stride, replace ? 1000 * me : -7);
	} else {
		CHECK(s.MPI_SOURCE == source && s.MPI_TAG == 3 && n == count, "status %d, %d, %d", s.MPI_SOURCE,
		      s.MPI_TAG, n);
		expect(replace ? from : to, count, stride, 1000 * source);
	}
	if (type != MPI_INT)
		MPI_Type_free(&type);
}

int main(int argc, char **argv) {
	static const int sizes[] = {0, 1, 100, 2000, 5000, MOST};
	check_begin(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm w = MPI_COMM_WORLD;
	int me = check_rank, other = 1 - me, flag;
	for (int i = 0; i < 6; i++)
		for (int stride = 1; stride <= 2; stride++)
			for (int replace = 0; replace < 2; replace++) {
				exchange(sizes[i], stride, other, other, replace);
				exchange(sizes[i], stride, me, me, replace);
				exchange(sizes[i], stride, MPI_PROC_NULL, MPI_PROC_NULL, replace);
				exchange(sizes[i], stride, me == 0 ? 1 : MPI_PROC_NULL, me == 1 ? 0 : MPI_PROC_NULL,
					 replace);
			}
	/* The request is incomplete until both the send and the receive are complete. */
	MPI_Request r, freed;
	MPI_Status s;
	if (me == 0) {
		CHECK_OK(MPI_Isendrecv(from, MOST, MPI_INT, 1, 1, to, 1, MPI_INT, 1, 1, w, &r));
		MPI_Recv(to + 1, 1, MPI_INT, 1, 2, w, MPI_STATUS_IGNORE);
		CHECK_OK(MPI_Test(&r, &flag, &s));
		CHECK(!flag, "complete though nobody has received");
		MPI_Send(to, 0, MPI_INT, 1, 2, w);
		CHECK_OK(MPI_Wait(&r, &s));
		CHECK(to[0] == 17, "%d is received", to[0]);
	} else {
		int x = 17;
		MPI_Send(&x, 1, MPI_INT, 0, 1, w);
		MPI_Send(&x, 1, MPI_INT, 0, 2, w);
		MPI_Recv(to, 0, MPI_INT, 0, 2, w, MPI_STATUS_IGNORE);
		MPI_Recv(to, MOST, MPI_INT, 0, 1, w, MPI_STATUS_IGNORE);
	}
	/* The receive is too short and fails; the message to the other rank is sent nevertheless. */
	fill(from, MOST, 1, me);
	CHECK_OK(MPI_Isendrecv(from, MOST, MPI_INT, other, 4, to, 10, MPI_INT, other, 4, w, &r));
	CHECK_CLASS(MPI_Wait(&r, &s), MPI_ERR_TRUNCATE);
	CHECK(s.MPI_SOURCE == other && s.MPI_TAG == 4, "status %d, %d", s.MPI_SOURCE, s.MPI_TAG);
	/* The request is freed while both messages are active. */
	CHECK_OK(MPI_Isendrecv_replace(from, MOST, MPI_INT, other, 5, other, 5, w, &freed));
	CHECK_OK(MPI_Request_free(&freed));
	exchange(10, 1, other, other, 0);
	for (int done = 0; !done; MPI_Iprobe(MPI_ANY_SOURCE, 99, w, &flag, MPI_STATUS_IGNORE))
		done = ((volatile int *)from)[MOST - 1] == other + MOST - 1;
	/* Nothing is sent if an argument is wrong. */
	CHECK_CLASS(MPI_Isendrecv(from, 1, MPI_INT, other, 6, to, 1, MPI_INT, 77, 6, w, &r), MPI_ERR_RANK);
	CHECK_CLASS(MPI_Isendrecv(from, 1, MPI_INT, other, 6, to, 1, MPI_INT, other, -9, w, &r), MPI_ERR_TAG);
	CHECK_CLASS(MPI_Isendrecv(from, 1, MPI_INT, other, 6, to, 1, MPI_INT, other, 6, w, NULL), MPI_ERR_ARG);
	MPI_Barrier(w);
	CHECK_OK(MPI_Iprobe(other, 6, w, &flag, MPI_STATUS_IGNORE));
	CHECK(!flag, "a call that was refused has sent");
	return check_end();
}
