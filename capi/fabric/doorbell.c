#define _GNU_SOURCE
#include "fabric/doorbell.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/call_name.h"
#include "base/wait.h"
#include "fabric/net.h"

static const int64_t NO_LIMIT_NS = 1000000000000000; // a sleep of at least this length has no timeout

struct gompi_net_doorbell gompi_net_doorbell = {.fd = -1};

int gompi_net_doorbell_open(void) {
	if (gompi_net_doorbell.fd >= 0)
		close(gompi_net_doorbell.fd);
	gompi_store(&gompi_net_doorbell.mode, PROGRESS_ROUNDS);
	gompi_net_doorbell.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return gompi_net_doorbell.fd < 0 ? errno : 0;
}

static void ring_doorbell(void) {
	static const uint64_t one = 1;
	if (write(gompi_net_doorbell.fd, &one, sizeof one) < 0) {
		// EAGAIN: the counter is at its maximum, so the progress thread wakes anyway.
	}
}

// Wakes the progress thread if it is armed, that is, sleeps until something arrives. The caller has added work to a
// list that the progress thread checks before it sleeps. The progress thread stores PROGRESS_ARMED, then reads the
// lists; the caller reads the mode after its addition (Dekker-style handshake). With the two full fences, at least one
// of the two threads sees the other thread's store. Without them, the progress thread could sleep while the list is not
// empty.
void gompi_net_wake_if_armed(void) {
	// The progress thread checks the lists before it sleeps, and must not count itself as an active application
	// thread.
	if (gompi_is_progress_thread)
		return;
	gompi_store(&gompi_net_doorbell.app_active, 1);
	gompi_full_fence(); // pairs with the fence in arm_and_sleep (progress_thread.c)
	uint32_t expected = PROGRESS_ARMED;
	if (gompi_load(&gompi_net_doorbell.mode) == PROGRESS_ARMED &&
	    gompi_cas_strong(&gompi_net_doorbell.mode, &expected, PROGRESS_ROUNDS))
		ring_doorbell();
}

void gompi_net_doorbell_ring(void) { ring_doorbell(); }

void gompi_net_app_polled(void) {
	if (gompi_load(&gompi_net_doorbell.app_polled) == 0)
		gompi_store(&gompi_net_doorbell.app_polled, 1);
}

// Makes the progress thread arm itself now, unless it is armed already (progress_thread.h). Does nothing while another
// thread of the process polls, because that thread handles arrivals. The caller is about to sleep until a handler wakes
// it, so the progress thread must handle arrivals at once. Without this call, the progress thread would arm itself only
// after a round without activity.
void gompi_net_app_sleeps(void) {
	if (gompi_load(&gompi_my_cell()->poller_count) > 0)
		return;
	gompi_store(&gompi_net_doorbell.app_active, 0);
	gompi_store(&gompi_net_doorbell.app_polled, 0);
	uint32_t expected = PROGRESS_ROUNDS;
	if (gompi_load(&gompi_net_doorbell.mode) == PROGRESS_ROUNDS &&
	    gompi_cas_strong(&gompi_net_doorbell.mode, &expected, PROGRESS_ARM_REQUESTED))
		ring_doorbell();
}

bool gompi_net_doorbell_sleep(bool armed, int64_t ns) {
	if (ns >= NO_LIMIT_NS)
		ns = -1;
	struct pollfd on[2] = {{.fd = gompi_net_doorbell.fd, .events = POLLIN},
			       {.fd = gompi_net.fd, .events = POLLIN}}; // poll ignores a negative fd
	struct timespec t = {ns / 1000000000, ns % 1000000000};
	if (ppoll(on, armed ? 2 : 1, ns < 0 ? NULL : &t, NULL) <= 0)
		return false;
	uint64_t rung;
	if ((on[0].revents & POLLIN) != 0 && read(gompi_net_doorbell.fd, &rung, sizeof rung) < 0) {
		// Only this thread reads the counter, so the read cannot fail.
	}
	return (on[1].revents & POLLIN) != 0;
}
