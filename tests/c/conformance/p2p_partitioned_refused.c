/* Proves: calls refuse inactive partitioned requests, partitions that do not exist or are ready already, and more data
 *   than the receive has space for. A refused call changes nothing. If the sender has less data than the receiver
 *   expects, the excess receive partitions arrive with the last data. Covers MPI_PROC_NULL, messages of a rank to
 *   itself, and requests that are freed before the other side creates a request. Freeing an active request is
 *   MPI_ERR_REQUEST. MPI-5.0 chapter 4
 * np: 2
 * args: refused less nobody itself freed
 * ref: none (MPICH 4.0 checks nothing)
 * timeout: 30
 */
#include "../check.h"

enum { ROUNDS = 3, BIG = 1 << 18 };

static char out[BIG], in[BIG];
static MPI_Request request, other;
static MPI_Status s;
static int flag, count;

static void psend(int parts, int each, int to, MPI_Request *r) {
	CHECK_OK(MPI_Psend_init(out, parts, each, MPI_CHAR, to, 4, MPI_COMM_WORLD, MPI_INFO_NULL, r));
}

static void precv(int parts, int each, int from, MPI_Request *r) {
	CHECK_OK(MPI_Precv_init(in, parts, each, MPI_CHAR, from, 4, MPI_COMM_WORLD, MPI_INFO_NULL, r));
}

static void refused(void) {
	if (check_rank == 1) {
		precv(1, 50, 0, &request);
		CHECK_CLASS(MPI_Pready(0, request), MPI_ERR_REQUEST);
		MPI_Start(&request);
		CHECK_CLASS(MPI_Pready(0, request), MPI_ERR_REQUEST);
		CHECK_CLASS(MPI_Parrived(request, 1, &flag), MPI_ERR_ARG);
		CHECK_CLASS(MPI_Wait(&request, &s), MPI_ERR_TRUNCATE);
		MPI_Start(&request);
		CHECK_CLASS(MPI_Wait(&request, &s), MPI_ERR_TRUNCATE);
		MPI_Barrier(MPI_COMM_WORLD);
		MPI_Request_free(&request);
		return;
	}
	const int first[] = {3, 0, 1}, twice[] = {0, 3, 0};
	psend(4, 25, 1, &request);
	CHECK_CLASS(MPI_Pready(0, request), MPI_ERR_REQUEST);
	MPI_Start(&request);
	CHECK_CLASS(MPI_Start(&request), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Pready_range(3, 4, request), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Pready_range(1, 0, request), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Pready(-1, request), MPI_ERR_ARG);
	CHECK_OK(MPI_Pready_range(1, 2, request));
	CHECK_CLASS(MPI_Pready_range(0, 1, request), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Pready_list(3, first, request), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Pready_list(3, twice, request), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Pready_list(-1, twice, request), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Parrived(request, 0, &flag), MPI_ERR_REQUEST);
	MPI_Test(&request, &flag, &s);
	CHECK(!flag, "complete with two partitions");
	CHECK_OK(MPI_Pready_list(2, twice, request));
	CHECK_OK(MPI_Wait(&request, &s));
	CHECK_CLASS(MPI_Pready(0, request), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Cancel(&request), MPI_ERR_REQUEST);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Request_free(&request);
	CHECK_CLASS(MPI_Psend_init(out, -1, 1, MPI_CHAR, 1, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &request), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Psend_init(out, 1, 1, MPI_CHAR, 2, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &request), MPI_ERR_RANK);
	CHECK_CLASS(MPI_Psend_init(out, 1, 1, MPI_CHAR, 1, -1, MPI_COMM_WORLD, MPI_INFO_NULL, &request), MPI_ERR_TAG);
	CHECK_CLASS(MPI_Psend_init(out, 1, 1, MPI_CHAR, 1, 4, MPI_COMM_WORLD, MPI_INFO_NULL, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Precv_init(in, 1, 1, MPI_CHAR, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &request),
		    MPI_ERR_RANK);
	CHECK_CLASS(MPI_Precv_init(in, 1, 1, MPI_CHAR, 1, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &request),
		    MPI_ERR_TAG);
	CHECK_CLASS(MPI_Precv_init(in, 1, 1, MPI_CHAR, 1, 4, MPI_COMM_WORLD, (MPI_Info)0x7ff0, &request), MPI_ERR_INFO);
	CHECK_CLASS(MPI_Pready(0, MPI_REQUEST_NULL), MPI_ERR_REQUEST);
}

static void less(void) {
	if (check_rank == 0) {
		psend(2, 25, 1, &request);
		MPI_Start(&request);
		MPI_Pready(0, request);
		MPI_Barrier(MPI_COMM_WORLD);
		MPI_Pready(1, request);
	} else {
		precv(4, 25, 0, &request);
		MPI_Start(&request);
		do
			MPI_Parrived(request, 0, &flag);
		while (!flag);
		for (int part = 1; part < 4; part++) {
			MPI_Parrived(request, part, &flag);
			CHECK(!flag, "partition %d is there", part);
		}
		MPI_Barrier(MPI_COMM_WORLD);
		for (int part = 3; part > 0; part--)
			do
				MPI_Parrived(request, part, &flag);
			while (!flag);
	}
	MPI_Wait(&request, &s);
	MPI_Get_count(&s, MPI_CHAR, &count);
	CHECK(check_rank == 0 || count == 50, "%d bytes", count);
	MPI_Request_free(&request);
}

static void nobody(void) {
	psend(2, 10, MPI_PROC_NULL, &request);
	precv(2, 10, MPI_PROC_NULL, &other);
	for (int round = 0; round < ROUNDS; round++) {
		MPI_Start(&request);
		MPI_Start(&other);
		MPI_Test(&request, &flag, &s);
		CHECK(!flag, "complete before a partition is ready");
		MPI_Pready_range(0, 1, request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		MPI_Parrived(other, 1, &flag);
		CHECK(flag, "nothing from MPI_PROC_NULL");
		MPI_Wait(&other, &s);
		CHECK(s.MPI_SOURCE == MPI_PROC_NULL && s.MPI_TAG == MPI_ANY_TAG, "status: from %d, tag %d",
		      s.MPI_SOURCE, s.MPI_TAG);
	}
	MPI_Request_free(&request);
	MPI_Request_free(&other);
}

static void fill(int round) {
	for (int i = 0; i < BIG; i++)
		out[i] = (char)(i * 7 + round);
	memset(in, -1, sizeof in);
}

static void expect(int bytes) { CHECK(memcmp(in, out, (size_t)bytes) == 0, "other data than was sent"); }

/* Sends small and large partitions to this rank; the receive is started first or last. */
static void itself(void) {
	for (int each = 10; each <= BIG / 4; each += BIG / 4 - 10) {
		psend(4, each, check_rank, &request);
		precv(2, 2 * each, check_rank, &other);
		for (int round = 0; round < ROUNDS; round++) {
			fill(round);
			MPI_Start(round % 2 == 0 ? &request : &other);
			if (round % 2 == 0)
				MPI_Pready_range(1, 3, request);
			MPI_Start(round % 2 == 0 ? &other : &request);
			MPI_Pready_range(round % 2, round % 2 == 0 ? 0 : 3, request);
			if (round % 2 != 0)
				MPI_Pready(0, request);
			MPI_Wait(&other, &s);
			MPI_Wait(&request, MPI_STATUS_IGNORE);
			expect(4 * each);
		}
		MPI_Request_free(&request);
		MPI_Request_free(&other);
	}
}

static void freed(void) {
	if (check_rank == 0) {
		psend(2, 10, 1, &request);
		MPI_Request_free(&request);
		psend(2, BIG / 2, 1, &request);
	} else {
		MPI_Barrier(MPI_COMM_WORLD);
		precv(2, 10, 0, &request);
		MPI_Request_free(&request);
		precv(2, BIG / 2, 0, &request);
	}
	fill(0);
	MPI_Start(&request);
	if (check_rank == 0) {
		MPI_Barrier(MPI_COMM_WORLD);
		MPI_Pready_range(0, 1, request);
	}
	MPI_Request before = request;
	CHECK_CLASS(MPI_Request_free(&request), MPI_ERR_REQUEST);
	CHECK(request == before, "a refused MPI_Request_free changed the handle");
	CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	CHECK(check_rank == 0 || memcmp(in, out, sizeof in) == 0, "other data than was sent");
	CHECK_OK(MPI_Request_free(&request));
	/* Freeing is also refused for a send without ready partitions, a send with all partitions ready, and a
	 * receive. */
	if (check_rank == 0)
		psend(2, 10, 1, &request);
	else
		precv(2, 10, 0, &request);
	MPI_Start(&request);
	CHECK_CLASS(MPI_Request_free(&request), MPI_ERR_REQUEST);
	MPI_Barrier(MPI_COMM_WORLD);
	if (check_rank == 0)
		CHECK_OK(MPI_Pready_range(0, 1, request));
	CHECK_CLASS(MPI_Request_free(&request), MPI_ERR_REQUEST);
	CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	CHECK_OK(MPI_Request_free(&request));
}

int main(int argc, char **argv) {
	check_begin_return_errors(&argc, &argv);
	strcmp(check_arg, "refused") == 0  ? refused()
	: strcmp(check_arg, "less") == 0   ? less()
	: strcmp(check_arg, "nobody") == 0 ? nobody()
	: strcmp(check_arg, "itself") == 0 ? itself()
					   : freed();
	return check_end();
}
