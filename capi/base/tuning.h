// All constants of waiting: how often to check a condition, when to yield the core, when to sleep. Each has its reason
// and, in most cases, the measurement behind it. The measurements are from a virtual machine with two cores, on which
// idle cores are switched off. docs/RATIONALE.md has more. Constants _NS are times in nanoseconds. Constants _POLLS are
// numbers of checks of the condition, each of which takes some nanoseconds.
#ifndef GOMPI_TUNING_H
#define GOMPI_TUNING_H

enum {
	// --- A wait (wait.c)

	// Checks at the start of a wait: a partner on another core answers within some 100 ns. With 500 instead of 200
	// checks, four messages each way take 620 ns instead of 700 ns. But during these checks the thread is not
	// registered as a poller, so senders wake its progress thread. With 500 checks, two strided messages of 64 KiB
	// each way therefore take 62 us instead of 33 us.
	GOMPI_QUIET_POLLS = 200,
	// On an oversubscribed node, one of this number of waits begins with such checks until they succeed. They do if
	// the system runs the partner on another core at the same time: two pairs of ranks on two cores then need 0.4
	// us for a message instead of 1.1 us.
	GOMPI_QUIET_WAITS_OVERSUB = 16,
	// Further checks, with a processor pause between them. Afterwards the thread yields its core between checks,
	// because a partner on the same core cannot run until then. With these yields, two processes that share a core
	// answer each other in 9 us, without them in 100 us.
	GOMPI_PAUSED_POLLS = 32,
	// Checks without a pause after the thread has served an operation. The next operation of a series arrives
	// within 200 ns or not at all, and a yield would delay each operation of the series. The progress thread does
	// the same.
	GOMPI_EAGER_POLLS = 100,
	// Number of checks after which a wait counts as long (some 20 us). Receivers are then notified that a thread
	// waits for them. With a smaller value, every second message of a ping-pong of 16 KiB wakes a progress thread,
	// and a message takes 9 us instead of 5 us.
	GOMPI_LONG_WAIT_POLLS = 256,
	// Polling time before the thread sleeps. Waking a thread takes 100 us or more. Two processes that wait for each
	// other alternately must not sleep: otherwise 64 messages take 230 us instead of 20 us.
	GOMPI_WAIT_POLL_NS = 400000,
	// If a yield returns only after this time, a compute-bound thread of this or another job ran on the core, and
	// would run again after each further yield. So the waiting thread sleeps instead: after a wake-up the system
	// runs it soon. While two endless loops use the cores, a program that orders accesses through malloc windows
	// (litmus/order_raw) takes 0.2 s instead of 1 to 3 s.
	GOMPI_LONG_YIELD_NS = 100000,
	// The two times on an oversubscribed node, where a yield returns after all other ranks of the core have run.
	// With the times above, ranks slept in most of their first calls: 500 MPI_Allreduce after the start took 95 us
	// each with 8 ranks on two cores, and 294 us with 16 ranks; with these times 24 us and 66 us. A compute-bound
	// thread runs for some milliseconds.
	GOMPI_WAIT_POLL_OVERSUB_NS = 4000000,
	GOMPI_LONG_YIELD_OVERSUB_NS = 1000000,
	// An oversubscribed node on which polling is often useless (wait.c): a wait that sleeps after polling counts as
	// GOMPI_USELESS_POLLING waits that do not. If such a wait finds the sum at GOMPI_USELESS_POLLING_MAX, the next
	// GOMPI_BRIEF_WAITS waits poll only for GOMPI_WAIT_POLL_BRIEFLY_NS. Beside 4 busy processes, a barrier of 4
	// ranks on two cores takes 100 us instead of 3,000 us, one of 32 ranks 1,600 us instead of 16,000 us.
	GOMPI_USELESS_POLLING = 8,
	GOMPI_USELESS_POLLING_MAX = 64,
	GOMPI_BRIEF_WAITS = 256,
	GOMPI_WAIT_POLL_BRIEFLY_NS = 2000,
	// Maximum sleep, after which the thread checks that the other processes are alive: one kill(2) for each process
	// of the node.
	GOMPI_WAIT_MAX_SLEEP_NS = 200000000,

	// --- Checks before a wait, for an event that another core is about to cause. If there are fewer cores than
	// processes, these checks are omitted, because the other process may need this core.

	// Checks of a mutex of this process. They take longer than a critical section, unless the lock holder has been
	// descheduled.
	GOMPI_MUTEX_POLLS = 100,
	// Checks of this member's word in a round of a barrier, before the member checks whether its partner sleeps.
	// Without membarrier(2), the check for a sleeping partner needs a full fence, which waits until the preceding
	// stores have left this core.
	GOMPI_BARRIER_POLLS = 100,
	// Checks for another member's buffer in a shared-memory collective. After GOMPI_SHM_POLLS_BEFORE_WAKE checks,
	// the member publishes what it has finished and wakes waiting members (for the same reason as in a barrier).
	// After GOMPI_SHM_POLLS further checks, it calls gompi_await. All checks together take some microseconds, which
	// suffices for the other members to copy the data of a buffer.
	GOMPI_SHM_POLLS_BEFORE_WAKE = 200,
	GOMPI_SHM_POLLS = 5000,
	// Checks for space in a full inbox of the receiver. If two processes both send before they receive, each serves
	// its own inbox during these checks, within some microseconds. A send that becomes pending instead costs 3 us.
	// If 64 messages of 16 KiB are posted each way, one message each way takes 1.7 us, without these checks 2.6 us.
	GOMPI_INBOX_FULL_POLLS = 200,
	// Checks for the target's answer to an operation in its ring. They take about a microsecond. A polling target
	// answers within this time. If the target does not answer in this time, the next transfers to it use system
	// calls, and take 540 ns instead of 4,500 ns.
	GOMPI_ACK_POLLS = 400,
	// Attempts to acquire a window member's lock before the thread draws a ticket. With tickets, each unlock
	// transfers the lock to the next ticket, which costs a cache line transfer or a context switch. With these
	// attempts, a contended lock together with a fetch_and_op takes less than 100 ns. On an oversubscribed node
	// each attempt yields the core.
	GOMPI_LOCK_TRIES = 1000,
	GOMPI_LOCK_TRIES_OVERSUB = 2,
	// Checks of the lock of large accumulates, or of the activity flags of small accumulates, before the thread
	// yields at each check. A thread that waits for the lock sleeps after GOMPI_MODE_POLLS yields. An update of an
	// element takes 2.5 ns, a change of mode 10 us.
	GOMPI_MODE_POLLS = 200,
	// A thread that waits for an activity flag checks once per this number of polls whether the flag's process is
	// alive. Checking that processes are alive costs one kill(2) for each process of the node.
	GOMPI_ACTIVITY_POLLS = 10000,
	// Number of checks of a table of attached memory, while its owner changes the table, before the thread yields.
	GOMPI_ATTACHED_TABLE_POLLS = 1000,

	// --- Programs that wait by calling MPI repeatedly (poll.c)

	// Number of consecutive idle calls after which the thread yields the core. Without yields, each hand-over costs
	// a time slice: litmus/queue_lock with 4 ranks on 2 cores takes 0.25 s instead of 0.03 s.
	GOMPI_POLL_CALLS = 16,
	// If there is a core for each process: GOMPI_POLL_YIELD_NS is the time before the first yield of a series, and
	// GOMPI_POLL_YIELD_CALLS the number of idle calls from one yield to the next. The process on the other core
	// will answer soon, and a yield costs as much as 20 calls.
	GOMPI_POLL_YIELD_NS = 200000,
	GOMPI_POLL_YIELD_CALLS = 256,
	// Flushes between checks of the clock, and the minimum time between two flushes that yield. A flush may belong
	// to useful work, and a context switch costs some 2 us. With these values the cost is a few percent.
	GOMPI_FLUSHES_PER_CHECK = 32,
	GOMPI_FLUSH_YIELD_NS = 50000,
	// Number of unsuccessful calls of MPI_Test, in one thread, that count as a long wait.
	GOMPI_TESTS_PER_LONG_WAIT = 1024,

	// --- The progress thread of the rings (transport/progress_thread.c)

	// Polling time after an operation, before the thread sleeps. In a series of operations, the polling time is
	// twice the last interval between operations. So operations at intervals of 100 us take 2 us each instead of 40
	// us.
	GOMPI_PROGRESS_POLL_NS = 50000,
	// GOMPI_PROGRESS_POLLS: checks between two yields. The system may run the thread on the origin's core, and
	// without yields each fetch of a series then takes 45 us. GOMPI_PROGRESS_POLLS_OVERSUB: number of checks before
	// the thread sleeps on an oversubscribed node, where it yields at each check.
	GOMPI_PROGRESS_POLLS = 16,
	GOMPI_PROGRESS_POLLS_OVERSUB = 20,
	// Maximum sleep, after which the thread polls once without a doorbell. This is a safeguard against a lost
	// doorbell, which should never occur.
	GOMPI_PROGRESS_SLEEP_NS = 1000000000,

	// --- Nonblocking collectives (coll/nbc_data.c, message/plan.c)

	// Message size in bytes from which the receiver's progress thread is woken immediately, and not only during a
	// long wait. This requires a free core: waking a thread costs some microseconds, and 130 us if no core is free.
	GOMPI_WAKE_PROGRESS_BYTES = 256 << 10,

	// --- The progress thread of the network (fabric/progress_thread.c)

	// Polling time after an event. The longer time applies while application threads wait, because their core is
	// then idle. Waking the progress thread takes longer than an operation. A round trip of a record takes 11 us in
	// a series, 65 us after a pause.
	GOMPI_NET_POLL_NS = 50000,
	GOMPI_NET_POLL_IDLE_CORE_NS = 200000,
	// Number of unsuccessful checks after which the thread yields the core at each further check, because the
	// sender may need the core.
	GOMPI_NET_POLLS_BEFORE_YIELD = 16,
	// Sleep time of the thread in each round. The thread makes rounds while application threads communicate
	// (fabric/progress_thread.h). The progress thread of an idle process makes no rounds and uses 50 us of CPU time
	// per second.
	GOMPI_NET_SLEEP_NS = 300000,
	// Time between checks while an operation waits for the provider. It starts with GOMPI_NET_RETRY_NS and grows to
	// GOMPI_NET_RETRY_MAX_NS. A connection is established after several checks, or never.
	GOMPI_NET_RETRY_NS = 50000,
	GOMPI_NET_RETRY_MAX_NS = 5000000,
	// Sleep time if the provider cannot signal arrivals.
	GOMPI_NET_UNSIGNALED_NS = 1000000,
};

#endif
