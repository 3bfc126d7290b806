/* Proves: a process that found no space in the inbox of another process is notified as soon as space is free. The
 * progress call that frees the space must send the notification. The waiting process may sleep, and no other event
 * would wake it.
 *
 * sanitizer: address (one thread)
 */
#include "processes.h"

enum { MAX_SENDS = 100000, ROUNDS = 3, BYTES = 40 };

static struct gompi_inbox *inbox_of(int i) { return gompi_vci_of(process[i], WORLD)->inbox; }

/* Returns the number of links of process i that have pending output. */
static int64_t backlog_of(int i) {
	struct gompi_engine_counts s;
	gompi_engine_counts(process[i], &s);
	return s.pending_links;
}

/* Process 1 sends until a send finds no space. Returns the number of sends. */
static int flood(struct gompi_request **sent) {
	static char data[BYTES];
	int n = 0;
	while (n < MAX_SENDS && backlog_of(1) == 0)
		sent[n] = send_to(1, 0, WORLD, n, data, BYTES, MODE_STANDARD), n++;
	CHECK(n < MAX_SENDS, "%d messages of %d bytes found space in an inbox of %d", n, BYTES, (int)INBOX_DATA);
	return n;
}

int main(void) {
	static struct gompi_request *sent[MAX_SENDS];
	char data[BYTES];
	unit_node(1);
	open_all(2, false);
	for (int round = 0; round < ROUNDS; round++) {
		int n = flood(sent);
		CHECK(gompi_load(&inbox_of(0)->has_waiters) == 1, "round %d: no process waits for space", round);
		gompi_engine_progress(process[0]);
		CHECK(gompi_load(&inbox_of(0)->has_waiters) == 0 && gompi_load(&inbox_of(0)->waiters[0]) == 0,
		      "round %d: the process that waits for space is not notified", round);
		while (backlog_of(1) > 0)
			CHECK(gompi_engine_progress(process[1]) || gompi_engine_progress(process[0]),
			      "round %d: a message waits and nothing moves", round);
		for (int i = 0; i < n; i++) {
			struct gompi_engine_result result = finish(0, receive_from(0, 1, WORLD, i, data, BYTES));
			CHECK(result.tag == i && result.bytes == BYTES, "round %d: message %d", round, i);
			finish(1, sent[i]);
		}
	}
	close_all();
	return unit_end();
}
