/* Proves: NULL as a buffer with data to move is MPI_ERR_BUFFER in every message, collective, packing and local
 *   reduction call, unless the datatype has absolute addresses. The call does nothing: positions and requests do not
 *   change. With a count of 0 or MPI_PROC_NULL, NULL is no error. MPI-5.0 3.2.2, 2.5.4, 5.1.12, 5.2, 6.9.7
 * np: 1 2
 * args: messages nothing collectives pack reduce
 * ref: mpich
 * ref-wrong: nothing pack reduce (MPICH refuses NULL for MPI_PROC_NULL too; for derived datatypes and in local
 * reductions it ends with a segmentation fault)
 * timeout: 30
 */
#include "../check.h"

#define W MPI_COMM_WORLD
#define I MPI_INT

static int value[16], result[16], to;
static MPI_Request r = MPI_REQUEST_NULL;
static MPI_Datatype apart; /* a type with a gap */

static void no_request(const char *where) {
	CHECK(r == MPI_REQUEST_NULL, "%s: a refused call made a request", where);
	r = MPI_REQUEST_NULL;
}

static void messages(void) {
	for (int i = 0; i < 2; i++) {
		MPI_Datatype t = i == 0 ? I : apart;
		CHECK_CLASS(MPI_Send(NULL, 1, t, to, 0, W), MPI_ERR_BUFFER);
		CHECK_CLASS(MPI_Ssend(NULL, 1, t, to, 0, W), MPI_ERR_BUFFER);
		CHECK_CLASS(MPI_Bsend(NULL, 1, t, to, 0, W), MPI_ERR_BUFFER);
		CHECK_CLASS(MPI_Rsend(NULL, 1, t, to, 0, W), MPI_ERR_BUFFER);
		CHECK_CLASS(MPI_Recv(NULL, 1, t, to, 0, W, MPI_STATUS_IGNORE), MPI_ERR_BUFFER);
		CHECK_CLASS(MPI_Isend(NULL, 1, t, to, 0, W, &r), MPI_ERR_BUFFER);
		CHECK_CLASS(MPI_Issend(NULL, 1, t, to, 0, W, &r), MPI_ERR_BUFFER);
		CHECK_CLASS(MPI_Ibsend(NULL, 1, t, to, 0, W, &r), MPI_ERR_BUFFER);
		CHECK_CLASS(MPI_Irsend(NULL, 1, t, to, 0, W, &r), MPI_ERR_BUFFER);
		CHECK_CLASS(MPI_Irecv(NULL, 1, t, to, 0, W, &r), MPI_ERR_BUFFER);
		CHECK_CLASS(MPI_Send_init(NULL, 1, t, to, 0, W, &r), MPI_ERR_BUFFER);
		CHECK_CLASS(MPI_Ssend_init(NULL, 1, t, to, 0, W, &r), MPI_ERR_BUFFER);
		CHECK_CLASS(MPI_Bsend_init(NULL, 1, t, to, 0, W, &r), MPI_ERR_BUFFER);
		CHECK_CLASS(MPI_Rsend_init(NULL, 1, t, to, 0, W, &r), MPI_ERR_BUFFER);
		CHECK_CLASS(MPI_Recv_init(NULL, 1, t, to, 0, W, &r), MPI_ERR_BUFFER);
		CHECK_CLASS(MPI_Psend_init(NULL, 1, 1, t, to, 0, W, MPI_INFO_NULL, &r), MPI_ERR_BUFFER);
		CHECK_CLASS(MPI_Precv_init(NULL, 1, 1, t, to, 0, W, MPI_INFO_NULL, &r), MPI_ERR_BUFFER);
		CHECK_CLASS(MPI_Sendrecv(NULL, 1, t, to, 0, result, 1, t, to, 0, W, MPI_STATUS_IGNORE), MPI_ERR_BUFFER);
		CHECK_CLASS(MPI_Sendrecv(value, 1, t, to, 0, NULL, 1, t, to, 0, W, MPI_STATUS_IGNORE), MPI_ERR_BUFFER);
		CHECK_CLASS(MPI_Sendrecv_replace(NULL, 1, t, to, 0, to, 0, W, MPI_STATUS_IGNORE), MPI_ERR_BUFFER);
		CHECK_CLASS(MPI_Isendrecv(NULL, 1, t, to, 0, result, 1, t, to, 0, W, &r), MPI_ERR_BUFFER);
		CHECK_CLASS(MPI_Isendrecv_replace(NULL, 1, t, to, 0, to, 0, W, &r), MPI_ERR_BUFFER);
		no_request("messages");
	}
	/* MPI_Mrecv and MPI_Imrecv. */
	MPI_Message m;
	MPI_Isend(value, 1, I, to, 5, W, &r);
	MPI_Mprobe(to, 5, W, &m, MPI_STATUS_IGNORE);
	MPI_Request second = MPI_REQUEST_NULL;
	CHECK_CLASS(MPI_Mrecv(NULL, 1, I, &m, MPI_STATUS_IGNORE), MPI_ERR_BUFFER);
	CHECK_CLASS(MPI_Imrecv(NULL, 1, I, &m, &second), MPI_ERR_BUFFER);
	CHECK(second == MPI_REQUEST_NULL && m != MPI_MESSAGE_NULL, "a refused receive has used up the message");
	CHECK_OK(MPI_Mrecv(result, 1, I, &m, MPI_STATUS_IGNORE));
	MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void nothing(void) {
	CHECK_OK(MPI_Send(NULL, 1, I, MPI_PROC_NULL, 0, W));
	CHECK_OK(MPI_Recv(NULL, 1, I, MPI_PROC_NULL, 0, W, MPI_STATUS_IGNORE));
	CHECK_OK(MPI_Sendrecv(NULL, 0, I, to, 0, NULL, 0, I, to, 0, W, MPI_STATUS_IGNORE));
}

static void collectives(void) {
	int ones[16], places[16];
	MPI_Datatype types[16];
	for (int i = 0; i < 16; i++) {
		ones[i] = 1;
		places[i] = i;
		types[i] = I;
	}
	CHECK_CLASS(MPI_Bcast(NULL, 1, I, 0, W), MPI_ERR_BUFFER);
	CHECK_CLASS(MPI_Bcast(NULL, 1, apart, 0, W), MPI_ERR_BUFFER);
	CHECK_CLASS(MPI_Allgather(NULL, 1, I, result, 1, I, W), MPI_ERR_BUFFER);
	CHECK_CLASS(MPI_Allgather(value, 1, I, NULL, 1, I, W), MPI_ERR_BUFFER);
	CHECK_CLASS(MPI_Allgatherv(value, 1, I, NULL, ones, places, I, W), MPI_ERR_BUFFER);
	CHECK_CLASS(MPI_Alltoall(NULL, 1, I, result, 1, I, W), MPI_ERR_BUFFER);
	CHECK_CLASS(MPI_Alltoall(value, 1, I, NULL, 1, I, W), MPI_ERR_BUFFER);
	CHECK_CLASS(MPI_Alltoallv(NULL, ones, places, I, result, ones, places, I, W), MPI_ERR_BUFFER);
	CHECK_CLASS(MPI_Alltoallw(NULL, ones, places, types, result, ones, places, types, W), MPI_ERR_BUFFER);
	CHECK_CLASS(MPI_Alltoallw(value, ones, places, types, NULL, ones, places, types, W), MPI_ERR_BUFFER);
	CHECK_CLASS(MPI_Allreduce(NULL, result, 1, I, MPI_SUM, W), MPI_ERR_BUFFER);
	CHECK_CLASS(MPI_Allreduce(value, NULL, 1, I, MPI_SUM, W), MPI_ERR_BUFFER);
	CHECK_CLASS(MPI_Scan(NULL, result, 1, I, MPI_SUM, W), MPI_ERR_BUFFER);
	CHECK_CLASS(MPI_Exscan(NULL, result, 1, I, MPI_SUM, W), MPI_ERR_BUFFER);
	CHECK_CLASS(MPI_Reduce_scatter(NULL, result, ones, I, MPI_SUM, W), MPI_ERR_BUFFER);
	CHECK_CLASS(MPI_Reduce_scatter_block(value, NULL, 1, I, MPI_SUM, W), MPI_ERR_BUFFER);
	CHECK_CLASS(MPI_Ibcast(NULL, 1, I, 0, W, &r), MPI_ERR_BUFFER);
	CHECK_CLASS(MPI_Iallreduce(value, NULL, 1, I, MPI_SUM, W, &r), MPI_ERR_BUFFER);
	CHECK_CLASS(MPI_Allreduce_init(value, NULL, 1, I, MPI_SUM, W, MPI_INFO_NULL, &r), MPI_ERR_BUFFER);
	no_request("collectives");
	/* Uses a communicator of one process. These buffers are significant only at the root, so only the root would
	 * detect the error, and other members would wait for it. */
	CHECK_CLASS(MPI_Gather(value, 1, I, NULL, 1, I, 0, MPI_COMM_SELF), MPI_ERR_BUFFER);
	CHECK_CLASS(MPI_Scatter(NULL, 1, I, result, 1, I, 0, MPI_COMM_SELF), MPI_ERR_BUFFER);
	CHECK_CLASS(MPI_Reduce(value, NULL, 1, I, MPI_SUM, 0, MPI_COMM_SELF), MPI_ERR_BUFFER);
	CHECK_OK(MPI_Bcast(NULL, 0, I, 0, W));
	CHECK_OK(MPI_Allreduce(NULL, NULL, 0, I, MPI_SUM, W));
	CHECK_OK(MPI_Allgather(NULL, 0, I, NULL, 0, I, W));
}

static void pack(void) {
	char out[64];
	int at = 4;
	MPI_Aint external = 4;
	MPI_Count large = 4;
	memset(out, 7, sizeof out);
	for (int i = 0; i < 2; i++) {
		MPI_Datatype t = i == 0 ? I : apart;
		CHECK_CLASS(MPI_Pack(NULL, 1, t, out, 64, &at, W), MPI_ERR_BUFFER);
		CHECK_CLASS(MPI_Pack(value, 1, t, NULL, 64, &at, W), MPI_ERR_BUFFER);
		CHECK_CLASS(MPI_Unpack(NULL, 64, &at, result, 1, t, W), MPI_ERR_BUFFER);
		CHECK_CLASS(MPI_Unpack(out, 64, &at, NULL, 1, t, W), MPI_ERR_BUFFER);
		CHECK_CLASS(MPI_Pack_external("external32", NULL, 1, t, out, 64, &external), MPI_ERR_BUFFER);
		CHECK_CLASS(MPI_Pack_external("external32", value, 1, t, NULL, 64, &external), MPI_ERR_BUFFER);
		CHECK_CLASS(MPI_Unpack_external("external32", NULL, 64, &external, result, 1, t), MPI_ERR_BUFFER);
		CHECK_CLASS(MPI_Unpack_external("external32", out, 64, &external, NULL, 1, t), MPI_ERR_BUFFER);
		CHECK_CLASS(MPI_Pack_c(NULL, 1, t, out, 64, &large, W), MPI_ERR_BUFFER);
		CHECK_CLASS(MPI_Unpack_c(out, 64, &large, NULL, 1, t, W), MPI_ERR_BUFFER);
	}
	CHECK(at == 4 && external == 4 && large == 4, "refused calls moved the position to %d, %ld, %lld", at,
	      (long)external, (long long)large);
	for (int i = 0; i < 64; i++)
		CHECK(out[i] == 7, "a refused call wrote %d to byte %d", out[i], i);
	CHECK_OK(MPI_Pack(NULL, 0, I, NULL, 64, &at, W));
	CHECK_OK(MPI_Unpack(NULL, 64, &at, NULL, 0, I, W));
	CHECK_OK(MPI_Pack_external("external32", NULL, 0, I, NULL, 64, &external));

	MPI_Datatype there;
	MPI_Aint address;
	int one = 1, first;
	MPI_Get_address(&value[2], &address);
	MPI_Type_create_hindexed(1, &one, &address, I, &there);
	MPI_Type_commit(&there);
	value[2] = 12345;
	at = 0;
	CHECK_OK(MPI_Pack(MPI_BOTTOM, 1, there, out, 64, &at, W));
	memcpy(&first, out, sizeof first);
	CHECK(first == 12345, "packed %d", first);
	value[2] = at = 0;
	CHECK_OK(MPI_Unpack(out, 64, &at, MPI_BOTTOM, 1, there, W));
	CHECK(value[2] == 12345, "unpacked %d", value[2]);
	external = 0;
	CHECK_OK(MPI_Pack_external("external32", MPI_BOTTOM, 1, there, out, 64, &external));
	value[2] = external = 0;
	CHECK_OK(MPI_Unpack_external("external32", out, 64, &external, MPI_BOTTOM, 1, there));
	CHECK(value[2] == 12345, "unpacked %d", value[2]);
	MPI_Type_free(&there);
}

static int calls;
static void mine(void *in, void *inout, int *len, MPI_Datatype *type) {
	(void)in, (void)inout, (void)len, (void)type;
	calls++;
}

static void reduce(void) {
	MPI_Op op;
	MPI_Op_create(mine, 1, &op);
	CHECK_CLASS(MPI_Reduce_local(NULL, result, 1, I, MPI_SUM), MPI_ERR_BUFFER);
	CHECK_CLASS(MPI_Reduce_local(value, NULL, 1, I, MPI_SUM), MPI_ERR_BUFFER);
	CHECK_CLASS(MPI_Reduce_local(NULL, result, 1, I, op), MPI_ERR_BUFFER);
	CHECK_CLASS(MPI_Reduce_local(value, NULL, 1, apart, op), MPI_ERR_BUFFER);
	CHECK(calls == 0, "the function was called %d times", calls);
	CHECK_OK(MPI_Reduce_local(NULL, NULL, 0, I, MPI_SUM));
	MPI_Op_free(&op);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	MPI_Comm_set_errhandler(W, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	to = (check_rank + 1) % check_size;
	if (check_size == 2)
		to = 1 - check_rank;
	MPI_Type_vector(2, 1, 3, I, &apart);
	MPI_Type_commit(&apart);
	if (strcmp(check_arg, "messages") == 0)
		messages();
	if (strcmp(check_arg, "nothing") == 0)
		nothing();
	if (strcmp(check_arg, "collectives") == 0)
		collectives();
	if (strcmp(check_arg, "pack") == 0)
		pack();
	if (strcmp(check_arg, "reduce") == 0)
		reduce();
	MPI_Type_free(&apart);
	return check_end();
}
