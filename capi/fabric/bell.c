#define _GNU_SOURCE
#include "fabric/bell.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/call.h"
#include "base/wait.h"
#include "fabric/net.h"

static const int64_t LONG_NS = 1000000000000000; // treated as no limit

struct gompi_bell gompi_bell = {.fd = -1};

int gompi_bell_open(void) {
	if (gompi_bell.fd >= 0)
		close(gompi_bell.fd);
	gompi_store(&gompi_bell.mode, ROUNDS);
	gompi_bell.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return gompi_bell.fd < 0 ? errno : 0;
}

static void ring_bell(void) {
	static const uint64_t one = 1;
	if (write(gompi_bell.fd, &one, sizeof one) < 0) {
		// The counter is full (EAGAIN): the progress thread wakes anyway.
	}
}

// Wakes an armed progress thread (Dekker-style handshake). The progress thread stores ARMED, then reads the lists. A
// thread that has added to a list then reads the mode. With the two full fences, at least one of them sees the other's
// store. Otherwise the progress thread could sleep while the list is not empty.
void gompi_bell_stir(void) {
	// it checks the lists before it sleeps, and must not count itself as an active application thread
	if (gompi_progress_thread)
		return;
	gompi_store(&gompi_bell.active, 1);
	gompi_full_fence(); // pairs with the one in arm (progress_thread.c)
	uint32_t was = ARMED;
	if (gompi_load(&gompi_bell.mode) == ARMED && gompi_change_once(&gompi_bell.mode, &was, ROUNDS))
		ring_bell();
}

void gompi_bell_call(void) { ring_bell(); }

void gompi_bell_looked(void) {
	if (gompi_load(&gompi_bell.looked) == 0)
		gompi_store(&gompi_bell.looked, 1);
}

// Asks a progress thread that makes rounds to arm itself now: a handler wakes the thread that is about to sleep, so
// arrivals must be handled at once. Without this call it would arm itself after a round without activity, which is
// later.
void gompi_bell_asleep(void) {
	if (gompi_load(&gompi_my_cell()->pollers) > 0)
		return;
	gompi_store(&gompi_bell.active, 0);
	gompi_store(&gompi_bell.looked, 0);
	uint32_t was = ROUNDS;
	if (gompi_load(&gompi_bell.mode) == ROUNDS && gompi_change_once(&gompi_bell.mode, &was, CALLED))
		ring_bell();
}

bool gompi_bell_sleep(bool armed, int64_t ns) {
	if (ns >= LONG_NS)
		ns = -1;
	struct pollfd on[2] = {{.fd = gompi_bell.fd, .events = POLLIN},
			       {.fd = gompi_net.fd, .events = POLLIN}}; // poll ignores a negative fd
	struct timespec t = {ns / 1000000000, ns % 1000000000};
	if (ppoll(on, armed ? 2 : 1, ns < 0 ? NULL : &t, NULL) <= 0)
		return false;
	uint64_t rung;
	if ((on[0].revents & POLLIN) != 0 && read(gompi_bell.fd, &rung, sizeof rung) < 0) {
		// Only this thread reads it, so the read cannot fail.
	}
	return (on[1].revents & POLLIN) != 0;
}
