#define _GNU_SOURCE
#include "fabric/progress_thread.h"

#include "base/call_name.h"
#include "base/tuning.h"
#include "base/wait.h"
#include "fabric/doorbell.h"
#include "fabric/connect_back.h"
#include "fabric/health.h"
#include "fabric/peer.h"
#include "fabric/progress.h"

static atomic_bool stop;

// Arms the progress thread. If there is no work, sleeps until something arrives, until the doorbell is rung, or until
// the time `until` (ns). Returns true if something has arrived.
static bool arm_and_sleep(int64_t until) {
	bool has_arrival = false;
	gompi_store_seq_cst(&gompi_net_doorbell.mode, PROGRESS_ARMED);
	gompi_full_fence(); // pairs with the fence in gompi_net_wake_if_armed
	if (!gompi_peers_have_work() && !gompi_transfers_have_done() && !gompi_load_seq_cst(&stop) &&
	    gompi_net_may_sleep()) {
		int64_t ns = until - gompi_now_ns();
		if (gompi_net.fd < 0 && ns > GOMPI_NET_UNSIGNALED_NS)
			ns = GOMPI_NET_UNSIGNALED_NS;
		has_arrival = gompi_net_doorbell_sleep(true, ns > 0 ? ns : 0);
	}
	gompi_store_seq_cst(&gompi_net_doorbell.mode, PROGRESS_ROUNDS);
	return has_arrival;
}

// Handles arrivals. If there were any, polls for more arrivals for a short time. The argument has_arrival is true if an
// arrival has woken the progress thread. This argument is needed because the arrival may be internal work of the
// provider, which gompi_net_poll does not report.
static void poll_arrivals(bool has_arrival) {
	if (!gompi_net_poll() && !has_arrival)
		return;
	const struct gompi_cell *me = gompi_my_cell();
	const bool has_idle_core = !gompi_node.policy.is_oversubscribed && gompi_load(&me->blocked_count) > 0;
	const int64_t poll_ns = has_idle_core ? GOMPI_NET_POLL_IDLE_CORE_NS : GOMPI_NET_POLL_NS;
	int64_t now = gompi_now_ns(), end = now + poll_ns;
	int idle_polls = 0;
	while (now < end && gompi_load(&me->poller_count) == 0) {
		bool worked = gompi_net_poll();
		now = gompi_now_ns();
		if (worked)
			end = now + poll_ns, idle_polls = 0;
		else if (++idle_polls < GOMPI_NET_POLLS_BEFORE_YIELD)
			gompi_pause();
		else if (gompi_yield_timed(&now))
			break;
	}
}

void gompi_net_progress_open(void) { gompi_store_seq_cst(&stop, false); }

void gompi_net_progress_run(void) {
	const struct gompi_cell *me = gompi_my_cell();
	gompi_add_progress_thread();
	int64_t retry_ns = GOMPI_NET_RETRY_NS;
	bool has_arrival = false;
	while (!gompi_load_seq_cst(&stop)) {
		bool app_polls = gompi_load(&gompi_net_doorbell.app_polled) != 0,
		     app_active = app_polls || gompi_load(&gompi_net_doorbell.app_active) != 0;
		gompi_store(&gompi_net_doorbell.app_active, 0);
		gompi_store(&gompi_net_doorbell.app_polled, 0);
		int64_t until = gompi_health_tick(gompi_now_ns());
		gompi_connect_back_tick(gompi_now_ns());
		gompi_fabric_flush(-1);
		if (gompi_load(&me->poller_count) > 0)
			app_active = true;
		else if (!app_polls)
			poll_arrivals(has_arrival);
		if (!gompi_peers_have_retries()) {
			retry_ns = GOMPI_NET_RETRY_NS;
			has_arrival =
				app_active ? gompi_net_doorbell_sleep(false, GOMPI_NET_SLEEP_NS) : arm_and_sleep(until);
			continue;
		}
		has_arrival = gompi_net_doorbell_sleep(false, retry_ns);
		if (retry_ns < GOMPI_NET_RETRY_MAX_NS)
			retry_ns *= 2;
	}
}

void gompi_net_progress_stop(void) {
	gompi_store_seq_cst(&stop, true);
	gompi_net_doorbell_ring();
}
