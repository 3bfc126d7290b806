/* Proves: records between two nodes arrive complete and in the order of their reservation, across all ports, even if
 * threads send concurrently and wait for credits. Answers always find space. RDMA reads and writes of registered memory
 * move the right bytes, with many concurrent transfers in both directions. Arriving data wakes a sleeping thread. The
 * test runs a second time as if the network required registered local memory.
 *
 * Usage: fabric bench prints latency figures instead. */
#include "two_nodes.h"

#include "fabric/net.h"

static const struct gompi_wait_desc net_wait = {.call = "test", .peer = -1, .object = 0};
static int other;

/* --- Records */

enum kind { COUNT, ECHO, ECHOED, STREAM, DONE };
struct record {
	uint32_t kind, sender; /* sender: the number of the sending thread */
	uint64_t number, length;
};

static gompi_a64 echoed, done, streamed[UNIT_THREADS];
static gompi_a64 arrived_bytes;
static uint64_t last_number; /* number that the next record of kind COUNT must have, on any port */

static uint64_t mix(uint64_t x) {
	x ^= x >> 31;
	x *= 0x9e3779b97f4a7c15;
	return x ^ x >> 29;
}

static void fill(char *at, size_t bytes, uint64_t seed) {
	for (size_t i = 0; i < bytes; i++)
		at[i] = (char)mix(seed + i);
}
static bool has_pattern(const char *at, size_t bytes, uint64_t seed) {
	for (size_t i = 0; i < bytes; i++)
		if (at[i] != (char)mix(seed + i))
			return false;
	return true;
}

/* Sends one record. Returns false if the port had no space. */
static bool send_record(enum gompi_port port, struct record r, size_t length, enum gompi_fabric_wait wait,
			enum gompi_urgency urgency) {
	int class;
	char *to = gompi_fabric_reserve(other, port, length, wait, &class);
	if (to == NULL) {
		CHECK(wait == FABRIC_TRY && class == MPI_ERR_PENDING, "no space: class %d", class);
		if (class != MPI_ERR_PENDING)
			exit(1); /* the peer has exited, so space will never be free */
		return false;
	}
	r.length = length;
	memcpy(to, &r, sizeof r);
	if (r.kind == STREAM)
		fill(to + sizeof r, length - sizeof r, r.number);
	gompi_fabric_commit(other, length, urgency);
	return true;
}

static void on_record(int peer, const char *data, size_t length) {
	struct record r;
	CHECK(peer == other && length >= sizeof r && (uintptr_t)data % 8 == 0, "%zu bytes of %d", length, peer);
	memcpy(&r, data, sizeof r);
	CHECK(length == r.length, "%zu bytes, sent were %llu", length, (unsigned long long)r.length);
	switch (r.kind) {
	case ECHO:
		r.kind = ECHOED;
		send_record(FABRIC_RMA, r, length, FABRIC_ANSWER, FABRIC_NOW);
		break;
	case ECHOED:
		gompi_add_seq_cst(&echoed, 1);
		gompi_wake(&gompi_my_cell()->wait);
		break;
	case STREAM:
		CHECK(gompi_load(&streamed[r.sender]) == r.number, "record %llu of thread %u comes as number %llu",
		      (unsigned long long)r.number, r.sender, (unsigned long long)gompi_load(&streamed[r.sender]));
		CHECK(has_pattern(data + sizeof r, length - sizeof r, r.number), "bytes of record %llu",
		      (unsigned long long)r.number);
		gompi_store(&streamed[r.sender], r.number + 1);
		break;
	case COUNT:
		CHECK(last_number == r.number, "record %llu comes as number %llu", (unsigned long long)r.number,
		      (unsigned long long)last_number);
		last_number = r.number + 1;
		gompi_add(&arrived_bytes, length);
		break;
	case DONE:
		gompi_add_seq_cst(&done, 1);
		gompi_wake(&gompi_my_cell()->wait);
		break;
	}
}

static gompi_a32 rooms;
static void on_room(int peer) {
	(void)peer;
	gompi_add(&rooms, 1);
	gompi_wake(&gompi_my_cell()->wait);
}

struct at_least {
	gompi_a64 *what;
	uint64_t least;
};
static bool is_at_least(void *arg) {
	struct at_least *a = arg;
	return gompi_load_acquire(a->what) >= a->least;
}
static void wait_for(gompi_a64 *what, uint64_t least) {
	struct at_least a = {what, least};
	CHECK(gompi_await(&gompi_my_cell()->wait, is_at_least, &a, &net_wait) == MPI_SUCCESS, "the wait failed");
}

static void round_trips(uint64_t n) {
	uint64_t before = gompi_load(&echoed);
	for (uint64_t i = 0; i < n; i++) {
		send_record(FABRIC_RMA, (struct record){ECHO, 0, i, 0}, sizeof(struct record), FABRIC_WAIT, FABRIC_NOW);
		wait_for(&echoed, before + i + 1);
	}
}

/* Sends n records through all ports alternately, and waits until the n records of the peer have arrived. */
static void many_records(uint64_t n) {
	static uint64_t number;
	uint64_t end = gompi_load(&done) + 1;
	for (uint64_t i = 0; i < n; i++) {
		enum gompi_port port = i % 2 == 0 ? FABRIC_RMA : FABRIC_MESSAGES;
		enum gompi_fabric_wait wait = i % 64 == 0 ? FABRIC_ANSWER : FABRIC_WAIT;
		send_record(port, (struct record){COUNT, 0, number++, 0}, sizeof(struct record) + i % 9, wait,
			    FABRIC_PENDING);
	}
	send_record(FABRIC_RMA, (struct record){DONE, 0, 0, 0}, sizeof(struct record), FABRIC_WAIT, FABRIC_NOW);
	wait_for(&done, end);
}

/* Sends stream_records records of all sizes. Several threads run the function `stream` at the same time. */
static uint64_t stream_records;
static void stream(int thread) {
	uint64_t random = (uint64_t)(thread + 1);
	for (uint64_t i = 0; i < stream_records; i++) {
		size_t most = i % 16 == 0 ? GOMPI_MAX_RECORD_BYTES : 200;
		size_t length = sizeof(struct record) + check_random(&random) % (most - sizeof(struct record) + 1);
		struct record r = {STREAM, (uint32_t)thread, i, 0};
		enum gompi_urgency urgency = i % 5 == 0 ? FABRIC_NOW : FABRIC_PENDING;
		if (i % 3 != 0) {
			send_record(FABRIC_MESSAGES, r, length, FABRIC_WAIT, urgency);
			continue;
		}
		while (!send_record(FABRIC_MESSAGES, r, length, FABRIC_TRY, urgency))
			gompi_fabric_progress();
	}
	send_record(FABRIC_RMA, (struct record){DONE, 0, 0, 0}, sizeof(struct record), FABRIC_WAIT, FABRIC_NOW);
}

/* --- Transfers */

enum { MEMORY = 32 << 20 };
static char *memory;
static struct gompi_region remote;

struct test_transfer {
	struct gompi_transfer t;
	gompi_a64 is_done;
};
static gompi_a64 transfers_done;

static void on_done(struct gompi_transfer *t, int class) {
	CHECK(class == MPI_SUCCESS, "a transfer ended with class %d", class);
	struct test_transfer *x = (struct test_transfer *)t;
	gompi_store_release(&x->is_done, 1);
	gompi_add_seq_cst(&transfers_done, 1);
	gompi_wake(&gompi_my_cell()->wait);
}

static void start(struct test_transfer *x, bool write, char *local, uint64_t bytes, uint64_t offset) {
	*x = (struct test_transfer){.t = {.done = on_done,
					  .local = local,
					  .bytes = bytes,
					  .region = remote,
					  .offset = offset,
					  .peer = other,
					  .is_write = write}};
	gompi_fabric_transfer(&x->t);
}

static void register_memory_here(void) {
	struct gompi_region mine;
	memory = unit_memory(MEMORY);
	CHECK(gompi_fabric_register(memory, MEMORY, true, &mine) == MPI_SUCCESS, "memory cannot be registered");
	CHECK(mine.key != 0, "key 0");
	pair_exchange(&mine, &remote, sizeof mine);
}

/* Writes blocks of growing size to the peer's memory and reads them back, many of them concurrently. Both processes run
 * this function at the same time; each process uses its own half of the memory. */
static void transfers(void) {
	enum { MAX_BYTES = 8 << 20, BLOCKS = 40 };
	static struct test_transfer x[BLOCKS];
	char *from = unit_memory(MAX_BYTES), *to = unit_memory(MAX_BYTES);
	CHECK(gompi_net.ops->name == NULL || strcmp(gompi_net.ops->name, "tcp") != 0 || !gompi_fabric_has_rdma,
	      "tcp is no device");
	const uint64_t half = (uint64_t)pair_rank * (MEMORY / 2);
	for (uint64_t size = 0; size <= MAX_BYTES; size = size == 0 ? 1 : size * 3 + 1) {
		int blocks = size == 0 ? 1 : MAX_BYTES / size < BLOCKS ? (int)(MAX_BYTES / size) : BLOCKS;
		uint64_t base = gompi_load(&transfers_done);
		fill(from, size * (uint64_t)blocks, size);
		for (int i = 0; i < blocks; i++)
			start(&x[i], true, from + (uint64_t)i * size, size, half + (uint64_t)i * size);
		wait_for(&transfers_done, base + (uint64_t)blocks);
		memset(to, 0, MAX_BYTES);
		for (int i = 0; i < blocks; i++)
			start(&x[i], false, to + (uint64_t)i * size, size, half + (uint64_t)i * size);
		wait_for(&transfers_done, base + 2 * (uint64_t)blocks);
		CHECK(memcmp(from, to, size * (uint64_t)blocks) == 0, "blocks of %llu bytes", (unsigned long long)size);
	}
}

/* --- Latency figures */

static long resident(void) {
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");
	if (f == NULL || fscanf(f, "%*d %ld", &pages) != 1)
		pages = 0;
	if (f != NULL)
		fclose(f);
	return pages * 4;
}

static double cpu(void) {
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int by_size(const void *a, const void *b) {
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Prints minimum, 10th percentile and median of n figures. */
static void print_figures(const char *what, double *us, int n) {
	qsort(us, (size_t)n, sizeof *us, by_size);
	printf("%-44s %8.2f %8.2f %8.2f\n", what, us[0], us[n / 10], us[n / 2]);
	fflush(stdout);
}

static gompi_a32 quiet;
static void bench_transfers(bool write, uint64_t bytes, int flight) {
	enum { ROUNDS = 200 };
	static struct test_transfer x[16];
	double us[ROUNDS];
	char what[100];
	for (int k = 0; k < ROUNDS; k++) {
		int64_t begin = gompi_now_ns();
		uint64_t base = gompi_load(&transfers_done);
		for (int i = 0; i < flight; i++)
			start(&x[i], write, memory + (uint64_t)i * bytes, bytes, (uint64_t)i * bytes);
		wait_for(&transfers_done, base + (uint64_t)flight);
		us[k] = (double)(gompi_now_ns() - begin) / 1e3 / flight;
	}
	snprintf(what, sizeof what, "%s %llu B, %d at once", write ? "write" : "read", (unsigned long long)bytes,
		 flight);
	print_figures(what, us, ROUNDS);
}

/* Measures n round trips and prints the figures under the name `what`. */
static void bench_round_trips(const char *what, int n) {
	double *us = malloc(sizeof *us * (size_t)n);
	for (int i = 0; i < n; i++) {
		int64_t begin = gompi_now_ns();
		round_trips(1);
		us[i] = (double)(gompi_now_ns() - begin) / 1e3;
	}
	print_figures(what, us, n);
	free(us);
}

static void bench_done(void) {
	send_record(FABRIC_RMA, (struct record){DONE, 0, 0, 0}, sizeof(struct record), FABRIC_WAIT, FABRIC_NOW);
}

static void bench(void) {
	enum { RECORDS = UNIT_REPEATS(300000) };
	static const char *mode[] = {"looks", "computes", "sleeps"};
	printf("%d: resident %ld kB\n", pair_rank, resident());
	pair_barrier();
	for (int m = 0; m < 3; m++) {
		char what[100];
		pair_barrier();
		if (pair_rank == 1) {
			uint64_t end = gompi_load(&done) + 1;
			if (m == 0)
				while (gompi_load(&done) < end)
					gompi_fabric_progress();
			else if (m == 1)
				while (gompi_load(&done) < end)
					gompi_pause();
			else
				pair_barrier();
			if (m < 2)
				pair_barrier();
			continue;
		}
		snprintf(what, sizeof what, "record of 24 B, round trip, the other %s", mode[m]);
		bench_round_trips(what, 2000);
		for (int flight = 1; flight <= 8; flight *= 8) {
			bench_transfers(true, 8, flight);
			bench_transfers(false, 8, flight);
			bench_transfers(true, 1 << 20, flight);
			bench_transfers(false, 1 << 20, flight);
		}
		bench_transfers(true, 8 << 20, 2);
		bench_done();
		pair_barrier();
	}
	pair_barrier();
	int64_t begin = gompi_now_ns();
	if (pair_rank == 0) {
		for (uint64_t i = 0; i < RECORDS; i++)
			send_record(FABRIC_RMA, (struct record){COUNT, 0, last_number + i, 0}, sizeof(struct record),
				    FABRIC_WAIT, FABRIC_PENDING);
		bench_done();
		printf("%d records one way: %.3f us each\n", RECORDS, (double)(gompi_now_ns() - begin) / 1e3 / RECORDS);
	} else {
		wait_for(&done, gompi_load(&done) + 1);
		printf("   all here: %.3f us each\n", (double)(gompi_now_ns() - begin) / 1e3 / RECORDS);
	}
	pair_barrier();
	double used = cpu();
	sleep(2);
	printf("%d: processor time of 2 s idle: %.0f us; resident %ld kB; frames %llu, of credits %llu, dropped "
	       "%llu\n",
	       pair_rank, cpu() - used, resident(), (unsigned long long)gompi_load(&gompi_net_counts.frames_sent),
	       (unsigned long long)gompi_load(&gompi_net_counts.credits_sent),
	       (unsigned long long)gompi_load(&gompi_net_counts.frames_dropped));
}

/* --- The network, as if it required registered local memory */

struct gompi_net_local {
	const char *at;
	uint64_t bytes;
	enum gompi_net_access access;
	struct gompi_net_local *next;
};
static struct gompi_net_local *locals; /* under gompi_net.lock */
static const struct gompi_net_ops *real_ops;
static gompi_a64 local_uses;

static enum gompi_net_error register_local(char *at, uint64_t bytes, enum gompi_net_access access,
					   struct gompi_net_local **local) {
	*local = malloc(sizeof **local);
	**local = (struct gompi_net_local){at, bytes, access, locals};
	locals = *local;
	return NET_SUCCESS;
}
static void unregister_local(struct gompi_net_local *local) {
	struct gompi_net_local **at = &locals;
	while (*at != local)
		at = &(*at)->next;
	*at = local->next;
	free(local);
}
/* Closes the network, and ends the registrations of frames. Those of transfers have ended with the transfers. */
static void close_local(void) {
	real_ops->close();
	while (locals != NULL) {
		CHECK(locals->access == NET_ACCESS_MESSAGES, "a registration of a transfer is left");
		unregister_local(locals);
	}
}

static void check_local(const struct gompi_net_local *l, const char *at, uint64_t bytes, enum gompi_net_access access) {
	CHECK(l != NULL && l->access == access && at >= l->at && at + bytes <= l->at + l->bytes,
	      "%llu bytes outside of their registration", (unsigned long long)bytes);
	gompi_add(&local_uses, 1);
}
static enum gompi_net_error send_local(int peer, char *at, size_t bytes, struct gompi_net_local *l,
				       struct gompi_net_op *op) {
	check_local(l, at - GOMPI_NET_HEAD_BYTES, bytes + GOMPI_NET_HEAD_BYTES, NET_ACCESS_MESSAGES);
	return real_ops->send(peer, at, bytes, NULL, op);
}
static enum gompi_net_error post_local(char *at, size_t bytes, struct gompi_net_local *l, struct gompi_net_op *op) {
	check_local(l, at - GOMPI_NET_HEAD_BYTES, bytes + GOMPI_NET_HEAD_BYTES, NET_ACCESS_MESSAGES);
	return real_ops->post_receive(at, bytes, NULL, op);
}
static enum gompi_net_error read_local(int peer, char *to, uint64_t bytes, struct gompi_net_local *l, uint64_t key,
				       uint64_t address, struct gompi_net_op *op) {
	check_local(l, to, bytes, NET_ACCESS_READ);
	return real_ops->read(peer, to, bytes, NULL, key, address, op);
}
static enum gompi_net_error write_local(int peer, char *from, uint64_t bytes, struct gompi_net_local *l, uint64_t key,
					uint64_t address, struct gompi_net_op *op) {
	check_local(l, from, bytes, NET_ACCESS_WRITE);
	return real_ops->write(peer, from, bytes, NULL, key, address, op);
}

static void require_local(void) {
	static struct gompi_net_ops ops;
	ops = *(real_ops = gompi_net.ops);
	ops.register_local = register_local, ops.unregister_local = unregister_local, ops.close = close_local;
	ops.send = send_local, ops.post_receive = post_local, ops.read = read_local, ops.write = write_local;
	gompi_net.ops = &ops;
	gompi_net.needs_local = true;
}

int main(int argc, char **argv) {
	static const struct gompi_port_handler handler = {on_record, on_room};
	for (int i = FABRIC_RMA; i < FABRIC_PORTS; i++)
		gompi_fabric_set_handler((enum gompi_port)i, &handler);
	pid_t child = argc > 1 ? 0 : fork();
	if (child > 0) {
		int status = -1;
		waitpid(child, &status, 0);
		CHECK(status == 0, "with local memory registered: %#x", (unsigned)status);
	} else if (argc == 1 && getenv("GOMPIRMA_PROVIDER") == NULL) {
		pair_on_open = require_local;
	}
	if (!pair_begin())
		return pair_rank == 1 ? 0 : unit_end();
	other = !pair_rank;
	(void)quiet;
	register_memory_here();
	if (argc > 1 && strcmp(argv[1], "records") == 0) {
		int64_t begin = gompi_now_ns();
		many_records(1000000);
		printf("%d: %.3f us each; credits %llu\n", pair_rank, (double)(gompi_now_ns() - begin) / 1e9,
		       (unsigned long long)gompi_load(&gompi_net_counts.credits_sent));
		return pair_end();
	}
	if (argc > 1 && strcmp(argv[1], "bench") == 0) {
		bench();
		return pair_end();
	}
	if (pair_rank == 0)
		round_trips(1000);
	pair_barrier();    /* the peer, blocked in read(2), answered by its progress thread until now */
	round_trips(1000); /* both processes run this call at the same time */
	pair_barrier();
	many_records(200000);
	pair_barrier();
	uint64_t before = gompi_load(&done);
	stream_records = 5000;
	unit_threads(3, stream);
	wait_for(&done, before + 3);
	for (int i = 0; i < 3; i++)
		CHECK(gompi_load(&streamed[i]) == stream_records, "%llu records of thread %d",
		      (unsigned long long)gompi_load(&streamed[i]), i);
	pair_barrier();
	transfers();
	CHECK(gompi_load(&gompi_net_counts.frames_dropped) == 0, "%llu frames dropped",
	      (unsigned long long)gompi_load(&gompi_net_counts.frames_dropped));
	CHECK(real_ops == NULL || gompi_load(&local_uses) > 1000, "%llu uses of registered memory",
	      (unsigned long long)gompi_load(&local_uses));
	return pair_end();
}
