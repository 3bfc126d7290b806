/* Proves: no rank starves when other ranks lock one target repeatedly. Assume that a thread queues for a lock behind k
 *   threads. It gets the lock after at most k locks of these threads and 64 * (k + 1) locks of other threads: 64 for
 *   each of the k + 1 ownership transfers. Variant writer: the thread wants an exclusive lock while the other ranks
 *   take shared locks. Variant reader: the reverse. The bound does not hold while the thread still tries to acquire the
 *   lock without queuing. So the count starts when the thread sleeps, which it does only in the queue. MPI-5.0 12.5.3;
 *   the standard does not require fairness
 * np: 2 3 4 6
 * nodes: 1 (the ranks report their progress to each other in shared memory)
 * args: writer reader
 * ref: none (a promise of gompirma; MPICH polls, but this test waits until a thread sleeps)
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

/* BYPASSES: limit of the locks that overtake the queue per ownership transfer, as capi/win/lock.h promises. ENOUGH:
 * limit of locks per rank, so that a starved rank still gets its lock and can report the count. */
enum { BYPASSES = 64, ENOUGH = 20000, TIMES = 3 };

/* State in shared memory, through which the ranks synchronize without MPI calls. Rank 1 holds the lock. Meanwhile the
 * last `before` ranks queue for it, and then rank 0 queues behind them. */
struct told {
	_Atomic int queuing; /* the ranks whose queue position is at most `queuing` may call MPI_Win_lock */
	_Atomic int calling; /* process id of the rank about to call MPI_Win_lock, or 0; thread: its thread id */
	_Atomic int thread;
	_Atomic int go; /* 1 when the queue is complete, so that the remaining ranks start to lock */
};

static struct told *told;

/* Waits until the thread sleeps, which means that it is queued: the thread calls nothing that can sleep between its
 * stores to `told` and the lock's queue. */
static void sees_asleep(int process, int thread) {
	char path[80], line[400] = "";
	snprintf(path, sizeof path, "/proc/%d/task/%d/stat", process, thread);
	for (;;) {
		FILE *f = fopen(path, "r");
		if (!f || !fgets(line, sizeof line, f)) {
			CHECK(0, "%s cannot be read", path);
			MPI_Abort(MPI_COMM_WORLD, 2);
		}
		fclose(f);
		char *behind = strrchr(line, ')'); /* the thread's state follows its name */
		if (behind && behind[2] == 'S')
			return;
		sched_yield();
	}
}

static void await_at_least(_Atomic int *word, int value) {
	while (atomic_load(word) < value)
		sched_yield();
}

/* Locks target 0 once and adds `add` to its count of locks. Returns the count before. */
static int locked(struct window *w, int type, int add) {
	int before;
	MPI_Win_lock(type, 0, 0, w->win);
	MPI_Fetch_and_op(&add, &before, MPI_INT, 0, window_at(w, 0, 0), MPI_SUM, w->win);
	MPI_Win_unlock(0, w->win);
	return before;
}

/* Queues for the lock at position `number`, acquires and releases it. Returns the count of locks before. */
static int queue(struct window *w, int number, int type, int add) {
	await_at_least(&told->queuing, number);
	atomic_store(&told->thread, (int)syscall(SYS_gettid));
	atomic_store(&told->calling, (int)getpid());
	return locked(w, type, add);
}

static void body(struct window *w) {
	int writer = strcmp(check_arg, "writer") == 0, before = (w->n - 2) / 2, count, most = 0;
	int alone = writer ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED,
	    crowd = writer ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE;
	enum { SERVED = 1 << 24 }; /* rank 0 adds this to the count when it has its lock */
	for (int time = 1; time <= TIMES; time++) {
		if (w->rank == 0) {
			MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win);
			memset(w->mem, 0, sizeof(int));
			MPI_Win_unlock(0, w->win);
			memset(told, 0, sizeof *told);
		}
		MPI_Barrier(w->comm);
		if (w->rank == 0) {
			count = queue(w, before + 1, alone, SERVED);
			most = count > most ? count : most;
		} else if (w->rank == 1) {
			MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win);
			for (int i = 1; i <= before + 1; i++) {
				atomic_store(&told->calling, 0);
				atomic_store(&told->queuing, i);
				await_at_least(&told->calling, 1);
				sees_asleep(told->calling, told->thread);
			}
			atomic_store(&told->go, 1);
			MPI_Win_unlock(0, w->win);
		} else if (w->rank >= w->n - before) {
			queue(w, w->rank - (w->n - before) + 1, alone, 1);
		} else {
			await_at_least(&told->go, 1);
		}
		if (w->rank > 0)
			for (int i = 0; i < ENOUGH && locked(w, crowd, 1) < SERVED; i++)
				;
		MPI_Barrier(w->comm);
	}
	int bound = before + BYPASSES * (before + 1);
	CHECK(most <= bound, "%s window: %d locks of others were before one that had %d in front of it, not %d",
	      w->name, most, before, bound);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	MPI_Win words;
	MPI_Win_allocate_shared(check_rank == 0 ? 4096 : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &told, &words);
	MPI_Aint size;
	int unit;
	MPI_Win_shared_query(words, 0, &size, &unit, &told);
	windows_each(64, sizeof(int), MPI_COMM_WORLD, body);
	MPI_Win_free(&words);
	return check_end();
}
