// All constants of waiting: how often to check a condition, when to yield the core, when to sleep. Each has its reason
// and its measurement, from a virtual machine with two cores on which idle cores are switched off; docs/RATIONALE.md
// has more. Constants without a measurement follow from their reason. Times are in nanoseconds. A constant _POLLS is a
// number of checks of the condition; each takes some nanoseconds.
#ifndef GOMPI_TUNING_H
#define GOMPI_TUNING_H

enum {
	// --- A wait (wait.c)

	// Checks before anything else: a partner on another core answers within some 100 ns. With 500, four messages
	// each way take 620 ns instead of 700 ns. But a thread in these checks is not registered as a poller, so its
	// progress thread is woken: two strided messages of 64 KiB each way take 62 us instead of 33.
	GOMPI_QUIET_POLLS = 200,
	// Further checks with a processor pause between them, before each check yields the core: until then a partner
	// on the same core cannot run. With yields, two processes that share a core answer each other in 9 us instead
	// of 100.
	GOMPI_PAUSED_POLLS = 32,
	// Checks without a pause after something has been served: the next operation of a series arrives within 200 ns
	// or not at all, and a yield would make each operation wait for it. The progress thread does the same.
	GOMPI_EAGER_POLLS = 100,
	// The check at which a wait counts as long, after some 20 us: receivers are then notified that a thread waits
	// for them. With a smaller value every second message of a ping-pong of 16 KiB wakes a progress thread and
	// takes 9 us instead of 5.
	GOMPI_LONG_WAIT_POLLS = 256,
	// Polling time before the thread sleeps. To wake a thread takes 100 us or more. Two processes that wait for
	// each other alternately must not sleep, else 64 messages take 230 us instead of 20.
	GOMPI_WAIT_POLL_NS = 400000,
	// If a yield returns only after this time, a compute-bound thread of this or another job ran on the core, and
	// would run again after each further yield. So the thread sleeps, and is woken in time. With two endless loops
	// beside it, a program that orders accesses through malloc windows (litmus/order_raw) takes 0.2 s instead of 1
	// to 3.
	GOMPI_LONG_YIELD_NS = 100000,
	// Maximum sleep, after which the thread checks that the other processes are alive: one kill(2) for each process
	// of the node.
	GOMPI_WAIT_MAX_SLEEP_NS = 200000000,

	// --- Checks before a wait, for an event that another core is about to cause. None if there are fewer cores
	// than processes: the other process may need this core.

	// Checks of a mutex inside the process. They take longer than its critical sections, unless the lock holder has
	// been descheduled.
	GOMPI_MUTEX_POLLS = 100,
	// Checks of this member's word in a round of a barrier, before the check whether its partner sleeps. That check
	// needs the preceding stores to have left this core.
	GOMPI_BARRIER_POLLS = 100,
	// Checks for a member's buffer in a shared-memory collective: first before this member publishes what it has
	// finished and wakes waiting members (for the same reason), then before gompi_await. Together they take some
	// microseconds, in which other members copy the data of a buffer.
	GOMPI_SHM_POLLS_BEFORE_WAKE = 200,
	GOMPI_SHM_POLLS = 5000,
	// Checks for space in a full inbox of the receiver. If two processes both send before they receive, each serves
	// its own inbox during these checks, within some microseconds. A send that becomes pending instead costs 3 us.
	// With 64 messages of 16 KiB posted each way, one message each way takes 1.7 us; without these checks 2.6 us.
	GOMPI_INBOX_FULL_POLLS = 200,
	// Checks for the answer of a ring. They take about a microsecond, within which a polling target answers. For a
	// target that does not poll, the next transfers use system calls: 540 ns instead of 4,500.
	GOMPI_ACK_POLLS = 400,
	// Attempts to acquire a member's lock before the thread draws a ticket: a queue hands the lock over at each
	// unlock, which costs a cache line transfer or a context switch. With these attempts a contended lock with a
	// fetch_and_op stays below 100 ns. On an oversubscribed node each attempt yields the core.
	GOMPI_LOCK_TRIES = 1000,
	GOMPI_LOCK_TRIES_OVERSUB = 2,
	// Checks of the lock of a large accumulate, or of the activity flags of small ones, before the thread yields at
	// each check. A thread that waits for the lock sleeps after as many yields. An update of an element takes 2.5
	// ns, a change of mode 10 us.
	GOMPI_MODE_POLLS = 200,
	// Checks of an activity flag between two checks that its process is alive: one kill(2) for each process of the
	// node.
	GOMPI_ACTIVITY_POLLS = 10000,
	// Checks of a table of attached memory that its owner is changing, before the thread yields.
	GOMPI_ATTACHED_TABLE_POLLS = 1000,

	// --- Programs that wait by calling MPI repeatedly (poll.c)

	// Consecutive calls that found nothing, after which the core is yielded. Otherwise each hand-over costs a time
	// slice: litmus/queue_lock with 4 ranks on 2 cores takes 0.03 s instead of 0.25.
	GOMPI_POLL_CALLS = 16,
	// Time before the first yield, and number of calls for each yield, if there is a core for each process: the
	// answer arrives soon from another core, and a yield costs as much as 20 calls.
	GOMPI_POLL_YIELD_NS = 200000,
	GOMPI_POLL_YIELD_CALLS = 256,
	// Flushes between checks of the clock, and the minimum time between two flushes that yield. A flush may belong
	// to useful work, and a context switch costs some 2 us. With these values the cost is a few percent.
	GOMPI_FLUSHES_PER_CHECK = 32,
	GOMPI_FLUSH_YIELD_NS = 50000,
	// Calls of MPI_Test that found nothing: each time a thread has made this many of them, they count as a long
	// wait.
	GOMPI_TESTS_PER_LONG_WAIT = 1024,

	// --- The progress thread of the rings (transport/progress_thread.c)

	// Polling time after an operation before the thread sleeps; for a series, twice the last interval between
	// operations. With pauses of 100 us between them, operations take 2 us instead of 40.
	GOMPI_PROGRESS_POLL_NS = 50000,
	// Checks between two yields: the system may run the thread on the origin's core, and without yields a series of
	// fetches takes 45 us for each. On an oversubscribed node the thread yields at each check, and polls for this
	// number of checks.
	GOMPI_PROGRESS_POLLS = 16,
	GOMPI_PROGRESS_POLLS_OVERSUB = 20,
	// Maximum sleep, after which the thread polls once without a doorbell. This should never be needed.
	GOMPI_PROGRESS_SLEEP_NS = 1000000000,

	// --- Nonblocking collectives (coll/nbc_data.c, message/plan.c)

	// Size in bytes from which progress threads are woken immediately, not only during a long wait, if there are
	// cores for them: waking costs some microseconds, and 130 us if no core is free.
	GOMPI_WAKE_PROGRESS_BYTES = 256 << 10,

	// --- The progress thread of the network (fabric/progress_thread.c)

	// Polling time after an event; the longer time applies while application threads wait, so that their core is
	// idle. Waking the thread takes longer than an operation. A round trip of a record takes 11 us in a series, 65
	// us after a pause.
	GOMPI_NET_POLL_NS = 50000,
	GOMPI_NET_POLL_IDLE_CORE_NS = 200000,
	// Checks that found nothing, after which further checks yield the core: the sender may wait for it.
	GOMPI_NET_POLLS_BEFORE_YIELD = 16,
	// Sleep time while other threads poll. An idle process uses 50 us of a core per second.
	GOMPI_NET_SLEEP_NS = 300000,
	// Time between checks while an operation waits for a provider, which starts with the first value and grows to
	// the second. A connection needs several checks, or is never established.
	GOMPI_NET_RETRY_NS = 50000,
	GOMPI_NET_RETRY_MAX_NS = 5000000,
	// Sleep time if the provider cannot signal arrivals.
	GOMPI_NET_UNSIGNALED_NS = 1000000,
};

#endif
