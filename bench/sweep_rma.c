/* Times one-sided operations as public suites do, in the loop that loop.h describes: short loops, MPI_CHAR, and
 * page-aligned buffers. Rank 0 is the origin. Rank 1 is the target, and waits in a barrier unless the synchronization
 * needs its calls.
 *
 *     OPERATION.SYNCHRONIZATION[.WINDOW]:BYTES
 *
 * An OPERATION with the suffix "_bandwidth" is issued 64 times before each synchronization; the time is that of one
 * operation. WINDOW is "created" (over memory of the program) or "dynamic"; the default is an allocated window.
 * --list prints all names. */
#include "loop.h"

enum { POSTED = 64, MOST_ROOM = 64 << 20 };

#define INLINE static inline __attribute__((always_inline)) /* so that loops call MPI directly, as programs do */

static int target; /* the other rank */
static char *local, *result;
static void *exposed;   /* memory of this rank in a window */
static MPI_Aint base;   /* displacement of the target's memory */
static MPI_Aint places; /* number of operations of `bytes` bytes for which window and buffers have space */
static MPI_Win win;
static MPI_Group other;

/* --- operations -------------------------------------------------------------------------------------------------- */

typedef void operation(MPI_Aint at);

INLINE void put(MPI_Aint at) { MPI_Put(local + at, bytes, MPI_CHAR, target, base + at, bytes, MPI_CHAR, win); }

INLINE void get(MPI_Aint at) { MPI_Get(local + at, bytes, MPI_CHAR, target, base + at, bytes, MPI_CHAR, win); }

INLINE void accumulate(MPI_Aint at) {
	MPI_Accumulate(local + at, bytes, MPI_CHAR, target, base + at, bytes, MPI_CHAR, MPI_SUM, win);
}

INLINE void get_accumulate(MPI_Aint at) {
	MPI_Get_accumulate(local + at, bytes, MPI_CHAR, result, bytes, MPI_CHAR, target, base + at, bytes, MPI_CHAR,
			   MPI_SUM, win);
}

INLINE void fetch_and_op(MPI_Aint at) {
	MPI_Fetch_and_op(local + at, result, MPI_LONG_LONG_INT, target, base + at, MPI_SUM, win);
}

INLINE void compare_and_swap(MPI_Aint at) {
	MPI_Compare_and_swap(local + at, local + at, result, MPI_LONG_LONG_INT, target, base + at, win);
}

enum { PUT, GET, ACCUMULATE, GET_ACCUMULATE, FETCH_AND_OP, COMPARE_AND_SWAP, PUT_BANDWIDTH, GET_BANDWIDTH, OPERATIONS };
static const char *const operations[] = {
	"put",           "get",          "accumulate", "get_accumulate", "fetch_and_op", "compare_and_swap",
	"put_bandwidth", "get_bandwidth"};

/* --- synchronization --------------------------------------------------------------------------------------------- */

enum { FLUSH, FLUSH_LOCAL, LOCK, LOCK_ALL, FENCE, PSCW, SYNCHRONIZATIONS };
static const char *const synchronizations[] = {"flush", "flush_local", "lock", "lock_all", "fence", "pscw"};

enum { ALLOCATED, CREATED, DYNAMIC, WINDOWS };
static const char *const windows[] = {"", ".created", ".dynamic"};

static struct measurement rows[OPERATIONS * SYNCHRONIZATIONS * WINDOWS];
static char names[OPERATIONS * SYNCHRONIZATIONS * WINDOWS][64];

static int operation_of(const struct measurement *m) { return (m - rows) / (SYNCHRONIZATIONS * WINDOWS); }
static int synchronization_of(const struct measurement *m) { return (m - rows) / WINDOWS % SYNCHRONIZATIONS; }
static int window_of(const struct measurement *m) { return (m - rows) % WINDOWS; }
static int posted_by(int op) { return op == PUT_BANDWIDTH || op == GET_BANDWIDTH ? POSTED : 1; }

INLINE void post(operation *op, int count) {
	if (count == 1)
		op(0);
	else
		for (int k = 0; k < count; k++)
			op(k % places * bytes);
}

INLINE void expose(void) {
	MPI_Win_post(other, 0, win);
	MPI_Win_wait(win);
}

INLINE void access_exposed(operation *op, int count) {
	MPI_Win_start(other, 0, win);
	post(op, count);
	MPI_Win_complete(win);
}

INLINE void loop(long n, operation *op, int count) {
	switch (synchronization_of(current)) {
	case FLUSH:
		for (long i = 0; i < n; i++) {
			post(op, count);
			MPI_Win_flush(target, win);
		}
		break;
	case FLUSH_LOCAL:
		for (long i = 0; i < n; i++) {
			post(op, count);
			MPI_Win_flush_local(target, win);
		}
		break;
	case LOCK:
		for (long i = 0; i < n; i++) {
			MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
			post(op, count);
			MPI_Win_unlock(target, win);
		}
		break;
	case LOCK_ALL:
		for (long i = 0; i < n; i++) {
			MPI_Win_lock_all(0, win);
			post(op, count);
			MPI_Win_unlock_all(win);
		}
		break;
	case FENCE:
		for (long i = 0; i < n; i++) {
			MPI_Win_fence(0, win);
			if (rank == 0)
				post(op, count);
			MPI_Win_fence(0, win);
		}
		break;
	case PSCW: /* each rank is origin and target; with "_bandwidth", only rank 0 is origin */
		for (long i = 0; i < n; i++) {
			if (rank == 0)
				access_exposed(op, count);
			else
				expose();
			if (count > 1)
				continue;
			if (rank == 0)
				expose();
			else
				access_exposed(op, count);
		}
		break;
	}
}

static void body(long n) {
	switch (operation_of(current)) {
	case PUT:
		loop(n, put, 1);
		break;
	case GET:
		loop(n, get, 1);
		break;
	case ACCUMULATE:
		loop(n, accumulate, 1);
		break;
	case GET_ACCUMULATE:
		loop(n, get_accumulate, 1);
		break;
	case FETCH_AND_OP:
		loop(n, fetch_and_op, 1);
		break;
	case COMPARE_AND_SWAP:
		loop(n, compare_and_swap, 1);
		break;
	case PUT_BANDWIDTH:
		loop(n, put, POSTED);
		break;
	case GET_BANDWIDTH:
		loop(n, get, POSTED);
		break;
	}
}

/* --- windows ----------------------------------------------------------------------------------------------------- */

static void window(void) {
	MPI_Aint room, mine;
	places = posted_by(operation_of(current));
	while (places > 1 && places * bytes > MOST_ROOM)
		places /= 2;
	room = places * bytes;
	local = pages(room);
	result = pages(bytes);
	base = 0;
	switch (window_of(current)) {
	case ALLOCATED: {
		void *memory;
		MPI_Win_allocate(room, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
		memset(memory, 1, room);
		break;
	}
	case CREATED:
		exposed = pages(room);
		MPI_Win_create(exposed, room, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
		break;
	case DYNAMIC:
		exposed = pages(room);
		MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
		MPI_Win_attach(win, exposed, room);
		MPI_Get_address(exposed, &mine);
		MPI_Sendrecv(&mine, 1, MPI_AINT, target, 0, &base, 1, MPI_AINT, target, 0, MPI_COMM_WORLD,
			     MPI_STATUS_IGNORE);
		break;
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

static void release(void) {
	if (window_of(current) == DYNAMIC)
		MPI_Win_detach(win, exposed);
	MPI_Win_free(&win);
	free(exposed);
	free(local);
	free(result);
	exposed = NULL;
}

static void before(const struct measurement *m) {
	if (synchronization_of(m) <= FLUSH_LOCAL)
		MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
}

static void after(const struct measurement *m) {
	if (synchronization_of(m) <= FLUSH_LOCAL)
		MPI_Win_unlock(target, win);
}

static void begin(void) {
	MPI_Group world;
	if (size != 2) {
		fprintf(stderr, "sweep_rma: two ranks\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	target = 1 - rank;
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 1, &target, &other);
	MPI_Group_free(&world);
}

static void finish(void) { MPI_Group_free(&other); }

int main(int argc, char **argv) {
	enum { ROWS = sizeof rows / sizeof *rows };
	static const struct program program = {"sweep_rma", rows, ROWS, release, before, after, 0};
	for (int i = 0; i < ROWS; i++) {
		const struct measurement *m = &rows[i];
		int op = operation_of(m), how = synchronization_of(m), posted = posted_by(op);
		snprintf(names[i], sizeof names[i], "%s.%s%s", operations[op], synchronizations[how],
			 windows[window_of(m)]);
		rows[i] = (struct measurement){.name = names[i],
					       .open = window,
					       .body = body,
					       .how = BRIEF | (how < FENCE ? ORIGIN : 0),
					       .per = how == PSCW && posted == 1 ? 2 : posted,
					       .loops = posted == 1 ? 1000 : 200};
	}
	return measure(&program, argc, argv, begin, finish);
}
