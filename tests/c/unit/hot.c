/* Proves: while memory moves nobody writes to it by system calls, and no write is lost (win/hot.h); one of those who
 * use it finds it hot, once, and its process hears of it; who sees which part of it is mapped here sees where, too; and
 * an agent that is paused serves nothing until it may again (way/serve.h). */
#include "unit.h"

#include "way/serve.h"
#include "win/hot.h"

enum { THREADS = 4, ROUNDS = 20000, MOVES = 300, SIZE = 4096, WINDOWS = 200, PAUSES = 200 };

static struct gompi_win *w;
static struct gompi_win_member *m;
static uint64_t place[2][THREADS]; /* of the memory; the last word is of nobody */
static int here;                   /* where it is: what the mapping is to a system call */
static uint64_t written[THREADS];
static gompi_a32 found, over, inside, pause_wanted;

static void write_and_move(int i) {
	if (i == 0) {
		for (int k = 0, moved = 0; gompi_load_total(&over) < THREADS - 1 || moved < MOVES; k++) {
			if (!gompi_hot_begin(w->handle)) {
				sched_yield();
				continue;
			}
			memcpy(place[1 - here], place[here], sizeof place[0]);
			here = 1 - here;
			gompi_hot_end(w->handle, GOMPI_PRIVATE, 0, 1);
			moved++;
			if (k % 16 == 0)
				sched_yield();
		}
		return;
	}
	for (int k = 0; k < ROUNDS; k++) {
		if (!gompi_hot_write(m))
			continue;
		place[here][i]++;
		gompi_hot_written(m);
		written[i]++;
	}
	gompi_add_total(&over, 1);
}

static void use(int i) {
	for (int k = 0; k < ROUNDS; k++)
		if (gompi_hot_used(m, k % 100 == 0 ? 1 << 20 : 8)) {
			gompi_add(&found, 1);
			gompi_hot_told(w);
		}
}

static char mapped[SIZE];

static void follow(int i) {
	if (i == 0) {
		CHECK(gompi_win_follow(w->handle, 1, (uintptr_t)mapped, 16, SIZE), "no memory");
		return;
	}
	struct gompi_part p;
	while ((p = gompi_part_of(w, 1)).to == 0)
		sched_yield();
	CHECK(w->targets[1].base == mapped && p.from == 16 && p.to == SIZE, "%p, bytes %d to %d",
	      (void *)w->targets[1].base, (int)p.from, (int)p.to);
}

static gompi_a32 quit;
static bool always(void) { return gompi_load_total(&quit) == 0; }
static uint64_t served; /* by the agent alone */
static bool serve(void) {
	gompi_store_total(&inside, 1);
	served++;
	gompi_store_total(&inside, 0);
	return true;
}

static void pause_agent(int i) {
	static const struct gompi_service service = {.ready = always, .serve = serve};
	if (i == 0) {
		gompi_service_add(&service);
		gompi_store_total(&pause_wanted, 1);
		gompi_agent_run();
		return;
	}
	while (gompi_load_total(&pause_wanted) == 0)
		sched_yield();
	for (int k = 0, paused = 0; paused < PAUSES; k++) {
		if (!gompi_agent_pause())
			continue;
		paused++;
		uint64_t before = served;
		for (int look = 0; look < 20; look++) {
			CHECK(gompi_load_total(&inside) == 0 && served == before, "the agent serves");
			if (k % 2)
				sched_yield();
		}
		gompi_agent_resume();
	}
	gompi_store_total(&quit, 1);
	gompi_agent_stop();
}

int main(void) {
	unit_types();
	unit_node(1);
	static char memory[2 * SIZE];
	w = unit_window(2, memory, SIZE, false);
	m = gompi_member(w, 0);
	m->may_move = true;
	unit_threads(THREADS, write_and_move);
	for (int i = 1; i < THREADS; i++)
		CHECK(place[here][i] == written[i], "thread %d wrote %llu times, there are %llu", i,
		      (unsigned long long)written[i], (unsigned long long)place[here][i]);
	gompi_store(&m->used, 0);
	gompi_store(&m->hot_at, 5000);
	unit_threads(THREADS, use);
	CHECK(gompi_load(&found) == 1, "%u threads found the memory hot", gompi_load(&found));
	CHECK(gompi_load(&gompi_hot) == 1 && (gompi_load(&w->flush_more) & FLUSH_HOT), "nobody will look");
	CHECK(gompi_hot_take(w->handle) && !gompi_hot_take(w->handle), "hot is told once");
	gompi_hot_told(w);
	gompi_hot_told(w);
	CHECK(gompi_load(&gompi_hot) == 1 && gompi_hot_take(w->handle), "told twice it is hot once");
	CHECK(!(gompi_load(&w->flush_more) & FLUSH_HOT), "flushes still look");
	gompi_hot_told(w);
	gompi_win_close(w->handle);
	CHECK(gompi_load(&gompi_hot) == 0, "a window that is gone is hot");
	for (int k = 0; k < WINDOWS; k++) {
		w = unit_window(2, memory, SIZE, false);
		unit_threads(2, follow);
		gompi_win_close(w->handle);
	}
	unit_threads(2, pause_agent);
	return unit_end();
}
