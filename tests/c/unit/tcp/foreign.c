/* Proves: a process of another job can connect only after it has been added, by its universe and its number there. It
 * needs the secret of this process, and becomes the peer with the number that it has been given. Another process of its
 * universe, and a process with its number in a third universe, are refused.
 *
 * sanitizer: address (one thread)
 */
#include "../unit.h"

enum { RANKS = 3, ME = 1, OTHER_UNIVERSE = 9, OTHER_NUMBER = 5 };

#include "remote_end.h"

/* Sends a connection request of a process, and returns the answer. */
static uint32_t answer_to(uint64_t universe, uint32_t number, int wrong_bits, int *fd) {
	*fd = connect_here();
	request_universe = universe;
	return request_link(*fd, number, ME, wrong_bits, NULL, NULL);
}

int main(void) {
	const uint64_t confirm = TCP_CONFIRM;
	int port, fd;
	unit_node(1);
	listen_here(&port);
	open_tcp(port);

	CHECK(answer_to(OTHER_UNIVERSE, OTHER_NUMBER, 0, &fd) == ANSWER_BUSY, "accepted before it was added");
	wait_and_close(fd);
	struct gompi_net_foreign f = {.peer = RANKS,
				      .node = 2,
				      .universe = OTHER_UNIVERSE,
				      .number = OTHER_NUMBER,
				      .address = endpoint.address,
				      .address_bytes = endpoint.address_bytes,
				      .host = endpoint.host,
				      .host_bytes = endpoint.host_bytes,
				      .secret = {1, 2}};
	f.host_bytes--;
	CHECK(tcp->add(&f) == NET_FAILED, "invalid data");
	f.host_bytes++;
	CHECK(tcp->add(&f) == NET_SUCCESS, "adding");
	CHECK(answer_to(OTHER_UNIVERSE, OTHER_NUMBER + 1, 0, &fd) == ANSWER_BUSY, "another number");
	wait_and_close(fd);
	CHECK(answer_to(OTHER_UNIVERSE + 1, OTHER_NUMBER, 0, &fd) == ANSWER_BUSY, "another universe");
	wait_and_close(fd);
	CHECK(answer_to(OTHER_UNIVERSE, OTHER_NUMBER, 4, &fd) == 0, "a wrong proof");
	wait_and_close(fd);
	CHECK(answer_to(OTHER_UNIVERSE, OTHER_NUMBER, 0, &fd) == ANSWER_YES, "refused");
	CHECK(send(fd, &confirm, sizeof confirm, 0) == sizeof confirm, "confirming");
	const struct gompi_tcp_peer *p = gompi_tcp_state.peers[RANKS];
	while (p->link == NULL || p->link->state != LINK_OPEN)
		step();
	close(fd);
	while (failed_count == 0)
		step();
	CHECK(gompi_tcp_state.peers[RANKS]->has_failed, "the end of the connection");
	return unit_end();
}
