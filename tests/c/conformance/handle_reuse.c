/* Proves: the value of a freed handle is not reused and stays refused while thousands of objects of its kind are
 *   created and freed. This holds for every kind of object. All objects created meanwhile work, also while many
 *   exist at a time. MPI-5.0 2.5.1, and gompirma's promise about stale handles
 * np: 1 2
 * args: win comm type group request info errhandler op message keyval
 * ref: none (MPICH gives the value of a freed handle to the next object)
 * timeout: 120
 */
#include "../check.h"

enum { LIVE = 300 };

static unsigned char *seen; /* one bit for each handle value */
static int memory, source = 5, target;

/* Records a handle that has just been created. Reports an error if its value belonged to a freed handle. */
static void note(int value, int made) {
	CHECK(value > 0, "object %d has the value %#x", made, value);
	CHECK(!(seen[value >> 3] >> (value & 7) & 1), "object %d of the kind has the value %#x of one that was freed",
	      made, value);
	seen[value >> 3] |= (unsigned char)(1 << (value & 7));
}

/* Creates and frees N objects one after another, and then LIVE objects that exist at the same time. The last arguments
 * are code: MAKE creates an object in x, TOINT converts its handle to a number, USE calls MPI with x, FREE frees x,
 * STALE checks that calls refuse a freed x. */
#define KIND(TYPE, N, MAKE, TOINT, USE, FREE, STALE)                       \
	{                                                                  \
		TYPE x, first, list[LIVE];                                 \
		MAKE;                                                      \
		first = x;                                                 \
		note((int)TOINT(x), 0);                                    \
		FREE;                                                      \
		for (int i = 1; i < N; i++) {                              \
			MAKE;                                              \
			note((int)TOINT(x), i);                            \
			USE;                                               \
			FREE;                                              \
		}                                                          \
		x = first;                                                 \
		STALE;                                                     \
		for (int round = 0; round < 3; round++) {                  \
			for (int i = 0; i < LIVE; i++) {                   \
				MAKE;                                      \
				note((int)TOINT(x), N + round * LIVE + i); \
				list[i] = x;                               \
			}                                                  \
			for (int i = 0; i < LIVE; i++) {                   \
				x = list[(i * 7 + round) % LIVE];          \
				USE;                                       \
				FREE;                                      \
			}                                                  \
		}                                                          \
		x = first;                                                 \
		STALE;                                                     \
	}

static void use_win(MPI_Win w) {
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w);
	CHECK_OK(MPI_Put(&source, 1, MPI_INT, 0, 0, 1, MPI_INT, w));
	MPI_Win_unlock(0, w);
}

static void use_type(MPI_Datatype t) {
	int size = 0, position = 0;
	char packed[64];
	int from[8] = {1, 2, 3, 4, 5, 6, 7, 8};
	MPI_Type_size(t, &size);
	CHECK(size == 12, "a type has %d bytes", size);
	CHECK_OK(MPI_Pack(from, 1, t, packed, sizeof packed, &position, MPI_COMM_SELF));
}

static void use_request(MPI_Request *r) {
	int cancelled = 0;
	MPI_Status status;
	CHECK_OK(MPI_Cancel(r));
	CHECK_OK(MPI_Wait(r, &status));
	MPI_Test_cancelled(&status, &cancelled);
	CHECK(cancelled && *r == MPI_REQUEST_NULL, "a receive was not cancelled");
}

static void handler(MPI_Comm *c, int *code, ...) { (void)c, (void)code; }
static void operation(void *in, void *inout, int *n, MPI_Datatype *t) { (void)in, (void)inout, (void)n, (void)t; }

static int size_of(MPI_Comm c) {
	int n = 0;
	MPI_Comm_size(c, &n);
	return n;
}

int main(int argc, char **argv) {
	check_begin_return_errors(&argc, &argv);
	seen = calloc(1 << 28, 1);
	int rank0 = 0, flag, out;
	MPI_Group world;
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	if (strcmp(check_arg, "win") == 0)
		KIND(MPI_Win, 1000, MPI_Win_create(&memory, 4, 1, MPI_INFO_NULL, MPI_COMM_SELF, &x), MPI_Win_toint,
		     use_win(x), MPI_Win_free(&x), CHECK_CLASS(MPI_Win_flush(0, x), MPI_ERR_WIN))
	if (strcmp(check_arg, "comm") == 0)
		KIND(MPI_Comm, 1000, MPI_Comm_dup(MPI_COMM_SELF, &x), MPI_Comm_toint,
		     CHECK(size_of(x) == 1, "size %d", size_of(x)), MPI_Comm_free(&x),
		     CHECK_CLASS(MPI_Comm_rank(x, &out), MPI_ERR_COMM))
	if (strcmp(check_arg, "type") == 0)
		KIND(MPI_Datatype, 20000, (MPI_Type_vector(3, 1, 2, MPI_INT, &x), MPI_Type_commit(&x)), MPI_Type_toint,
		     use_type(x), MPI_Type_free(&x), CHECK_CLASS(MPI_Type_size(x, &out), MPI_ERR_TYPE))
	if (strcmp(check_arg, "group") == 0)
		KIND(MPI_Group, 20000, MPI_Group_incl(world, 1, &rank0, &x), MPI_Group_toint,
		     CHECK_OK(MPI_Group_size(x, &out)), MPI_Group_free(&x),
		     CHECK_CLASS(MPI_Group_size(x, &out), MPI_ERR_GROUP))
	if (strcmp(check_arg, "request") == 0)
		KIND(MPI_Request, 20000, MPI_Irecv(&target, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &x), MPI_Request_toint,
		     (void)0, use_request(&x),
		     (CHECK_CLASS(MPI_Request_get_status(x, &flag, MPI_STATUS_IGNORE), MPI_ERR_REQUEST)))
	if (strcmp(check_arg, "info") == 0)
		KIND(MPI_Info, 20000, MPI_Info_create(&x), MPI_Info_toint, CHECK_OK(MPI_Info_set(x, "a", "b")),
		     MPI_Info_free(&x), CHECK_CLASS(MPI_Info_set(x, "a", "b"), MPI_ERR_INFO))
	if (strcmp(check_arg, "errhandler") == 0)
		KIND(MPI_Errhandler, 20000, MPI_Comm_create_errhandler(handler, &x), MPI_Errhandler_toint, (void)0,
		     MPI_Errhandler_free(&x),
		     CHECK_CLASS(MPI_Comm_set_errhandler(MPI_COMM_SELF, x), MPI_ERR_ERRHANDLER))
	if (strcmp(check_arg, "op") == 0)
		KIND(MPI_Op, 20000, MPI_Op_create(operation, 1, &x), MPI_Op_toint,
		     CHECK_OK(MPI_Op_commutative(x, &flag)), MPI_Op_free(&x),
		     CHECK_CLASS(MPI_Op_commutative(x, &flag), MPI_ERR_OP))
	if (strcmp(check_arg, "message") == 0)
		KIND(MPI_Message, 20000,
		     (MPI_Send(&source, 1, MPI_INT, 0, 4, MPI_COMM_SELF),
		      MPI_Mprobe(0, 4, MPI_COMM_SELF, &x, MPI_STATUS_IGNORE)),
		     MPI_Message_toint, (void)0, CHECK_OK(MPI_Mrecv(&target, 1, MPI_INT, &x, MPI_STATUS_IGNORE)),
		     CHECK_CLASS(MPI_Mrecv(&target, 1, MPI_INT, &x, MPI_STATUS_IGNORE), MPI_ERR_REQUEST))
	if (strcmp(check_arg, "keyval") == 0)
		KIND(int, 20000, MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &x, NULL),
		     (int), CHECK_OK(MPI_Comm_set_attr(MPI_COMM_SELF, x, &out)),
		     (MPI_Comm_delete_attr(MPI_COMM_SELF, x), MPI_Comm_free_keyval(&x)),
		     CHECK_CLASS(MPI_Comm_set_attr(MPI_COMM_SELF, x, &out), MPI_ERR_KEYVAL))
	MPI_Group_free(&world);
	free(seen);
	return check_end();
}
