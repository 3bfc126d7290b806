/* Proves: calls refuse freed handles of groups, datatypes, requests, error handlers and windows, and arbitrary
 *   numbers, with the error class of their kind. They do not accept a handle of another kind. Nothing crashes.
 *   MPI-5.0 2.5.1; gompirma promises this for stale and random handles
 * np: 1
 * args: freed nonsense other_kind
 * ref: none (MPICH reuses handles, and crashes for random ones)
 * timeout: 30
 */
#include "../check.h"

static int value = 1, out;

static void group(MPI_Group g) {
	MPI_Group result = MPI_GROUP_NULL;
	int rank = 0;
	CHECK_CLASS(MPI_Group_size(g, &out), MPI_ERR_GROUP);
	CHECK_CLASS(MPI_Group_rank(g, &out), MPI_ERR_GROUP);
	CHECK_CLASS(MPI_Group_incl(g, 1, &rank, &result), MPI_ERR_GROUP);
	CHECK_CLASS(MPI_Group_free(&g), MPI_ERR_GROUP);
}

static void type(MPI_Datatype t) {
	MPI_Datatype result = MPI_DATATYPE_NULL;
	MPI_Request r = MPI_REQUEST_NULL;
	CHECK_CLASS(MPI_Send(&value, 1, t, 0, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Irecv(&value, 1, t, 0, 0, MPI_COMM_WORLD, &r), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Bcast(&value, 1, t, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_size(t, &out), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_contiguous(1, t, &result), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_commit(&t), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_free(&t), MPI_ERR_TYPE);
}

static void comm(MPI_Comm c) {
	CHECK_CLASS(MPI_Comm_rank(c, &out), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Send(&value, 1, MPI_INT, 0, 0, c), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Barrier(c), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Comm_free(&c), MPI_ERR_COMM);
}

static void win(MPI_Win w) {
	CHECK_CLASS(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, w), MPI_ERR_WIN);
	CHECK_CLASS(MPI_Win_fence(0, w), MPI_ERR_WIN);
	CHECK_CLASS(MPI_Win_flush(0, w), MPI_ERR_WIN);
	CHECK_CLASS(MPI_Win_free(&w), MPI_ERR_WIN);
}

static void request(MPI_Request r) {
	int flag;
	MPI_Request copy = r;
	CHECK_CLASS(MPI_Wait(&copy, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Test(&copy, &flag, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
}

static void op(MPI_Op o) { CHECK_CLASS(MPI_Allreduce(&value, &out, 1, MPI_INT, o, MPI_COMM_WORLD), MPI_ERR_OP); }

static MPI_Group g;
static MPI_Datatype t;
static MPI_Comm c;
static MPI_Win w;
static MPI_Request r;
static int memory, received;

static void make(void) {
	MPI_Comm_group(MPI_COMM_WORLD, &g);
	MPI_Type_contiguous(3, MPI_INT, &t);
	MPI_Comm_dup(MPI_COMM_WORLD, &c);
	MPI_Win_create(&memory, 4, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
	MPI_Irecv(&received, 1, MPI_INT, 0, 7, MPI_COMM_SELF, &r);
}

static void drop(void) {
	MPI_Group_free(&g);
	MPI_Type_free(&t);
	MPI_Comm_free(&c);
	MPI_Win_free(&w);
	MPI_Send(&value, 1, MPI_INT, 0, 7, MPI_COMM_SELF);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
	check_begin_return_errors(&argc, &argv);
	make();
	if (strcmp(check_arg, "freed") == 0) {
		MPI_Group old_group = g;
		MPI_Datatype old_type = t;
		MPI_Comm old_comm = c;
		MPI_Win old_win = w;
		MPI_Request old_request = r;
		drop();
		for (int round = 0; round < 2; round++) {
			group(old_group);
			type(old_type);
			comm(old_comm);
			win(old_win);
			request(old_request);
			if (round == 0)
				make(); /* the second round runs while new objects exist */
		}
	}
	if (strcmp(check_arg, "nonsense") == 0) {
		static const uintptr_t numbers[] = {3,          0xfff,      0x1000,        0x7fffffff,
						    0x12345678, 0x20100005, (uintptr_t)-1, (uintptr_t)1 << 40};
		for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
			group((MPI_Group)numbers[i]);
			type((MPI_Datatype)numbers[i]);
			comm((MPI_Comm)numbers[i]);
			win((MPI_Win)numbers[i]);
			request((MPI_Request)numbers[i]);
			op((MPI_Op)numbers[i]);
		}
		comm((MPI_Comm)&memory); /* an address instead of a handle */
		win((MPI_Win)&memory);
	}
	if (strcmp(check_arg, "other_kind") == 0) {
		group((MPI_Group)MPI_COMM_WORLD), group((MPI_Group)t), group((MPI_Group)w);
		type((MPI_Datatype)MPI_COMM_WORLD), type((MPI_Datatype)MPI_SUM), type((MPI_Datatype)c);
		comm((MPI_Comm)MPI_INT), comm((MPI_Comm)w), comm((MPI_Comm)g);
		win((MPI_Win)MPI_COMM_WORLD), win((MPI_Win)c), win((MPI_Win)r);
		request((MPI_Request)MPI_COMM_WORLD), request((MPI_Request)w);
		op((MPI_Op)MPI_INT), op((MPI_Op)c);
	}
	drop();
	return check_end();
}
