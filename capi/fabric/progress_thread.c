#define _GNU_SOURCE
#include "fabric/progress_thread.h"

#include "base/call.h"
#include "base/tuning.h"
#include "base/wait.h"
#include "fabric/bell.h"
#include "fabric/call.h"
#include "fabric/health.h"
#include "fabric/peer.h"
#include "fabric/progress.h"

static atomic_bool stop;

// Arms the progress thread, and sleeps until something arrives or until `until`, unless there is work. Returns true if
// something has arrived.
static bool arm(int64_t until) {
	bool arrival = false;
	gompi_store_total(&gompi_bell.mode, ARMED);
	gompi_full_fence(); // pairs with the one in gompi_bell_stir
	if (!gompi_peers_wait() && !gompi_transfers_ended() && !gompi_load_total(&stop) && gompi_net_may_sleep()) {
		int64_t ns = until - gompi_now_ns();
		if (gompi_net.fd < 0 && ns > GOMPI_NET_BLIND_NS)
			ns = GOMPI_NET_BLIND_NS;
		arrival = gompi_bell_sleep(true, ns > 0 ? ns : 0);
	}
	gompi_store_total(&gompi_bell.mode, ROUNDS);
	return arrival;
}

// Handles arrivals. If there were any, it polls for more for a short time. An arrival is a frame, or internal work of
// the provider, which only wakes the progress thread (arrival is true then).
static void progress_serve(bool arrival) {
	if (!gompi_net_serve() && !arrival)
		return;
	const struct gompi_cell *me = gompi_my_cell();
	const bool spare = !gompi_node.policy.oversubscribed && gompi_load(&me->blocked) > 0;
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

void gompi_net_progress_open(void) { gompi_store_total(&stop, false); }

void gompi_net_progress_run(void) {
	const struct gompi_cell *me = gompi_my_cell();
	gompi_own_thread();
	int64_t retry = GOMPI_NET_RETRY_NS;
	bool arrival = false;
	while (!gompi_load_total(&stop)) {
		bool others_look = gompi_load(&gompi_bell.looked) != 0,
		     others = others_look || gompi_load(&gompi_bell.active) != 0;
		gompi_store(&gompi_bell.active, 0);
		gompi_store(&gompi_bell.looked, 0);
		int64_t until = gompi_health_tick(gompi_now_ns());
		if (gompi_net.own)
			gompi_call_tick(gompi_now_ns());
		gompi_fabric_push(-1);
		if (gompi_load(&me->pollers) > 0)
			others = true;
		else if (!others_look)
			progress_serve(arrival);
		if (!gompi_peers_have_retries()) {
			retry = GOMPI_NET_RETRY_NS;
			arrival = others ? gompi_bell_sleep(false, GOMPI_NET_ROUND_NS) : arm(until);
			continue;
		}
		arrival = gompi_bell_sleep(false, retry);
		if (retry < GOMPI_NET_RETRY_MOST_NS)
			retry *= 2;
	}
}

void gompi_net_progress_stop(void) {
	gompi_store_total(&stop, true);
	gompi_bell_call();
}
