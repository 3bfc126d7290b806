#define _GNU_SOURCE
#include "fabric/agent.h"

#include <errno.h>
#include <poll.h>
#include <rdma/fi_errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/call.h"
#include "base/tuning.h"
#include "base/wait.h"
#include "fabric/call.h"
#include "fabric/health.h"
#include "fabric/peer.h"
#include "fabric/progress.h"

static const int64_t LONG_NS = 1000000000000000; // that is never

// What the agent does.
enum { ROUNDS, ARMED, CALLED }; // CALLED: it shall look whether it can be armed

static gompi_a32 mode;
static gompi_a32 active; // a thread of the application has communicated since the agent has looked
static gompi_a32 looked; // and has taken what had arrived
static atomic_bool stop;
static int bell = -1; // the agent sleeps on it

int gompi_net_agent_open(void) {
	bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return bell < 0 ? errno : 0;
}

static void ring_bell(void) {
	static const uint64_t one = 1;
	if (write(bell, &one, sizeof one) < 0) {
		// It is full: the agent wakes.
	}
}

// The agent makes itself armed, then looks at the lists; whoever has put something on one looks then whether it is
// armed. One of the two sees the other.
void gompi_agent_stir(void) {
	if (gompi_progress_thread) // which looks by itself before it sleeps, and must not take itself for others
		return;
	gompi_store(&active, 1);
	gompi_full_fence(); // pairs with the one in arm
	uint32_t was = ARMED;
	if (gompi_load(&mode) == ARMED && gompi_change_once(&mode, &was, ROUNDS))
		ring_bell();
}

void gompi_agent_call(void) { ring_bell(); }

void gompi_agent_looked(void) {
	if (gompi_load(&looked) == 0)
		gompi_store(&looked, 1);
}

// Whoever sleeps is woken by a handler, so somebody must see what arrives at once. An agent that makes rounds is armed
// by itself when one has passed; this is only sooner.
void gompi_agent_asleep(void) {
	if (gompi_load(&gompi_my_cell()->pollers) > 0)
		return;
	gompi_store(&active, 0);
	gompi_store(&looked, 0);
	uint32_t was = ROUNDS;
	if (gompi_load(&mode) == ROUNDS && gompi_change_once(&mode, &was, CALLED))
		ring_bell();
}

// Sleeps for so many nanoseconds (-1: without end) or until the bell, and, if armed, until something arrives. Returns
// true if that was it.
static bool agent_sleep(bool armed, int64_t ns) {
	if (ns >= LONG_NS)
		ns = -1;
	struct pollfd on[2] = {{.fd = bell, .events = POLLIN},
			       {.fd = gompi_net.fd, .events = POLLIN}}; // one of -1 is left out
	struct timespec t = {ns / 1000000000, ns % 1000000000};
	if (ppoll(on, armed ? 2 : 1, ns < 0 ? NULL : &t, NULL) <= 0)
		return false;
	uint64_t rung;
	if ((on[0].revents & POLLIN) != 0 && read(bell, &rung, sizeof rung) < 0) {
		// Nobody else reads it.
	}
	return (on[1].revents & POLLIN) != 0;
}

// Sleeps until something arrives, if there is nothing to do before. Returns true if something has.
static bool arm(int64_t until) {
	bool arrival = false;
	gompi_store_total(&mode, ARMED);
	gompi_full_fence(); // pairs with the one in gompi_agent_stir
	if (!gompi_peers_wait() && !gompi_transfers_ended() && !gompi_load_total(&stop) && gompi_net_may_sleep()) {
		int64_t ns = until - gompi_now_ns();
		if (gompi_net.fd < 0 && ns > GOMPI_NET_BLIND_NS)
			ns = GOMPI_NET_BLIND_NS;
		arrival = agent_sleep(true, ns > 0 ? ns : 0);
	}
	gompi_store_total(&mode, ROUNDS);
	return arrival;
}

// Takes what has arrived, and looks for more for a short time if there was something: frames, or what a provider does
// by itself, which only ends the sleep of the agent.
static void agent_serve(bool arrival) {
	if (!gompi_net_serve() && !arrival)
		return;
	const struct gompi_cell *me = gompi_my_cell();
	const bool spare = !gompi_node.policy.crowded && gompi_load(&me->blocked) > 0;
	const int64_t series = spare ? GOMPI_NET_SERIES_SPARE_NS : GOMPI_NET_SERIES_NS;
	int64_t now = gompi_now_ns(), end = now + series;
	int looks = 0;
	while (now < end && gompi_load(&me->pollers) == 0) {
		bool worked = gompi_net_serve();
		now = gompi_now_ns();
		if (worked)
			end = now + series, looks = 0;
		else if (++looks < GOMPI_NET_OFFER_LOOKS)
			gompi_pause();
		else if (gompi_yield_long(&now))
			break;
	}
}

void gompi_net_agent_run(void) {
	const struct gompi_cell *me = gompi_my_cell();
	gompi_progress_thread = true;
	int64_t retry = GOMPI_NET_RETRY_NS;
	bool arrival = false;
	while (!gompi_load_total(&stop)) {
		bool others_look = gompi_load(&looked) != 0, others = others_look || gompi_load(&active) != 0;
		gompi_store(&active, 0);
		gompi_store(&looked, 0);
		int64_t until = gompi_health_tick(gompi_now_ns());
		if (gompi_net.own)
			gompi_call_tick(gompi_now_ns());
		gompi_fabric_push(-1);
		if (gompi_load(&me->pollers) > 0)
			others = true;
		else if (!others_look)
			agent_serve(arrival);
		if (!gompi_peers_try_again()) {
			retry = GOMPI_NET_RETRY_NS;
			arrival = others ? agent_sleep(false, GOMPI_NET_ROUND_NS) : arm(until);
			continue;
		}
		arrival = agent_sleep(false, retry);
		if (retry < GOMPI_NET_RETRY_MOST_NS)
			retry *= 2;
	}
}

void gompi_net_agent_stop(void) {
	gompi_store_total(&stop, true);
	ring_bell();
}
