// How long is looked, how often a core is offered, when a thread sleeps: every figure of waiting, with its reason and
// what was measured, on a virtual machine of two cores on which idle cores are switched off; more of it is in
// docs/RATIONALE.md. Those without a figure of their own have been chosen by their reason. Times are in nanoseconds;
// looks are at the condition and take some nanoseconds each.
#ifndef GOMPI_TUNING_H
#define GOMPI_TUNING_H

enum {
	// --- A wait (wait.c)

	// Looks before it does anything else: a partner on another core answers within some 100 ns. With 500 four
	// messages each way take 620 ns instead of 700; but who is not known to poll has its progress thread called,
	// and two strided messages of 64 KiB each way take 62 us instead of 33.
	GOMPI_QUIET_LOOKS = 200,
	// Then looks with a pause of the processor in between, before the core is offered at each: a partner on the
	// same core can do nothing until then. With offers two that share one answer each other in 9 us instead of 100.
	GOMPI_PAUSED_LOOKS = 32,
	// Looks without a pause after something has been served: the next operation of a series comes within 200 ns if
	// it does, and an offer of the core would make each wait for that. The progress thread does the same.
	GOMPI_EAGER_LOOKS = 100,
	// The look at which a wait is one that lasts, some 20 us: receivers are told that somebody waits for them.
	// Earlier each second message of a ping-pong of 16 KiB woke a progress thread and took 9 us instead of 5.
	GOMPI_LASTING_LOOKS = 256,
	// How long it looks before it sleeps. To wake a thread takes 100 us and more: two that wait in turn must not
	// send each other to sleep, else 64 messages take 230 us instead of 20.
	GOMPI_WAIT_POLL_NS = 400000,
	// An offered core that stays away for so long went to somebody who computes, of this job or another, and would
	// go there each time: the thread sleeps, and is woken in time. With two endless loops beside it one that
	// is ordered through malloc windows (litmus/order_raw) takes 0.2 s instead of 1 to 3.
	GOMPI_LONG_YIELD_NS = 100000,
	// Asleep, between looks whether the others live: a kill(2) for each process of the node.
	GOMPI_WAIT_SLICE_NS = 200000000,

	// --- Looks before a wait, for what another core is just about to do; none if there are fewer cores than
	// processes, where it may need this one

	// At a mutex inside of the process: what it is for takes less, unless its owner has lost its core.
	GOMPI_MUTEX_LOOKS = 100,
	// At the partner's word in a barrier, before it is looked whether the partner sleeps, for which what was stored
	// must have left this core.
	GOMPI_BARRIER_LOOKS = 100,
	// The same at a slot of a collective, and then until it is served and offered: some microseconds, in which
	// others copy what a slot's body holds.
	GOMPI_SLOT_LOOKS_AT_ONCE = 200,
	GOMPI_SLOT_LOOKS = 5000,
	// At an inbox without room: each side of two that send first takes in what has come meanwhile, within some
	// microseconds. A send that stays where it is costs 3. With 64 of 16 KiB posted each way one each way
	// takes 1.7 us instead of 2.6.
	GOMPI_ROOM_LOOKS = 200,
	// At the answer of a ring: a microsecond, within which a target that looks answers. One that does not sends the
	// next moves by the system: 540 ns instead of 4,500.
	GOMPI_ACK_LOOKS = 400,
	// Tries for a member's lock before a ticket is drawn: a queue hands over at each unlock, a cache line's way or
	// a change of context. A contended lock with a fetch_and_op stays below 100 ns so. On an oversubscribed node
	// each try offers the core.
	GOMPI_LOCK_TRIES = 1000,
	GOMPI_LOCK_TRIES_OVERSUBSCRIBED = 2,
	// At the lock of a large accumulate and at the marks of small ones; then as many offers of the core, then the
	// thread sleeps. An element takes 2.5 ns, the way to the other mode 10 us.
	GOMPI_MODE_LOOKS = 200,
	// At a mark, between looks whether its process lives: a kill(2) for each of the node.
	GOMPI_MARK_LOOKS = 10000,
	// At a table of attached memory that its owner is changing.
	GOMPI_TABLE_LOOKS = 1000,

	// --- Programs that wait by calling MPI again and again (poll.c)

	// Calls in a row that found nothing, after which the core is offered, else each hand-over costs a time slice:
	// litmus/queue_lock with 4 ranks on 2 cores takes 0.03 s instead of 0.25.
	GOMPI_POLL_CALLS = 16,
	// With a core for each process only after so long, and at so many calls: the answer comes from another core,
	// and soon, and an offer costs as much as 20 calls.
	GOMPI_PATIENCE_NS = 200000,
	GOMPI_PATIENT_CALLS = 256,
	// Flushes between looks at the clock, and the time between two that offer the core: they may be work, which a
	// change of context for each, some 2 us, would slow down; so it is a few percent.
	GOMPI_FLUSHES = 32,
	GOMPI_FLUSH_NS = 50000,
	// MPI_Test that found nothing: so many in a row are a wait that lasts.
	GOMPI_TESTS_TO_WAIT = 1024,

	// --- The progress thread of the rings (transport/serve.c)

	// How long it looks after an operation before it sleeps, and twice as long as the last one took to come for a
	// series: with pauses of 100 us between them operations take 2 us instead of 40.
	GOMPI_PROGRESS_NS = 50000,
	// Looks between two offers of its core: systems put it on the origin's, and then a series of fetches took 45 us
	// for each. On an oversubscribed node it offers at each, and looks so often.
	GOMPI_PROGRESS_LOOKS = 16,
	GOMPI_PROGRESS_LOOKS_OVERSUBSCRIBED = 20,
	// Asleep, before it looks again by itself: nobody should need that.
	GOMPI_PROGRESS_SLEEP_NS = 1000000000,

	// --- Collectives that are started (coll/pieces.c, message/plan.c)

	// Bytes from which progress threads are woken at once, not only when a wait lasts, if there are cores for them:
	// that costs some microseconds, and 130 where they find none.
	GOMPI_MUCH = 256 << 10,

	// --- The progress thread of the network (fabric/progress_thread.c)

	// It looks so long for more after something has come; while threads of the application wait, so that their
	// core is to spare, longer: to wake it takes more than an operation. 11 us for a record there and back while
	// more come, 65 after a pause.
	GOMPI_NET_SERIES_NS = 50000,
	GOMPI_NET_SERIES_SPARE_NS = 200000,
	// Looks that found nothing, after which the next offer the core: who sends may wait for it.
	GOMPI_NET_OFFER_LOOKS = 16,
	// It sleeps so long without looking while others look. A process at rest takes 50 us of a core in a second.
	GOMPI_NET_ROUND_NS = 300000,
	// Between looks while something waits for a provider: a connection takes several, or does not come at all.
	GOMPI_NET_RETRY_NS = 50000,
	GOMPI_NET_RETRY_MOST_NS = 5000000,
	// The same where the provider cannot say that something has arrived.
	GOMPI_NET_BLIND_NS = 1000000,
};

#endif
