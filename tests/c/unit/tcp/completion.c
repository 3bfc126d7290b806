/* Proves: if a peer answers an RDMA read without data, the read and the link fail. An error in the peer's answer is
 * reported once. Completions that the caller has not fetched are dropped when the endpoint is closed: the next endpoint
 * does not report them. An operation does not start if there is no memory for its completion.
 *
 * sanitizer: address (one thread)
 * wrap: malloc
 */
#include "../unit.h"

enum { RANKS = 3, ME = 0, PEER = 1 };

#include "remote_end.h"

static bool no_memory;
void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes) { return no_memory ? NULL : __real_malloc(bytes); }

static struct gompi_net_op op;
static struct { char head[GOMPI_NET_HEAD_BYTES], data[8]; } message;

static enum gompi_net_error start_read(uint64_t bytes) {
	return tcp->read(PEER, message.data, bytes, NULL, 99, 0, &op);
}
static enum gompi_net_error start_send(void) { return tcp->send(PEER, message.data, 8, NULL, &op); }

static int connect_peer(void) {
	const uint64_t confirm = TCP_CONFIRM;
	int fd = connect_here();
	CHECK(request_link(fd, PEER, ME, 0, NULL, NULL) == ANSWER_YES, "the peer");
	send(fd, &confirm, sizeof confirm, 0);
	return fd;
}

/* Starts a read and answers it as the peer, without data and with the error `key`. Returns the error that the read
 * reports. */
static enum gompi_net_error answer_without_data(int fd, uint64_t bytes, uint64_t key) {
	struct gompi_tcp_head h;
	struct gompi_net_completion c, other;
	CHECK(start_read(bytes) == NET_SUCCESS, "a read");
	read_all(fd, &h, sizeof h);
	CHECK(h.kind == TCP_READ && h.bytes == bytes, "what is asked for");
	h = (struct gompi_tcp_head){.kind = TCP_DONE, .id = h.id, .key = key};
	send(fd, &h, sizeof h, 0);
	while (tcp->poll(&c, 1) == 0) {
	}
	CHECK(c.op == &op, "whose completion it is");
	CHECK(tcp->poll(&other, 1) == 0, "another completion");
	return c.error;
}

int main(void) {
	int port, listener = listen_here(&port);
	unit_node(1);
	open_tcp(port);
	int fd = connect_peer();
	CHECK(answer_without_data(fd, 0, NET_SUCCESS) == NET_SUCCESS, "a read of nothing");
	CHECK(answer_without_data(fd, 8, NET_FAILED) == NET_FAILED && failed_count == 0, "an error");
	CHECK(answer_without_data(fd, 8, NET_SUCCESS) == NET_PEER_FAILED && failed_count == 1, "a read without data");
	wait_and_close(fd);
	tcp->close();

	/* Closes an endpoint while a read is pending, so that its completion is not fetched. Then, with the next
	 * endpoint, sends until no memory is left for a completion. */
	open_tcp(port);
	CHECK(start_read(8) == NET_SUCCESS, "a read");
	tcp->close();
	open_tcp(port);
	struct gompi_net_completion c;
	CHECK(tcp->poll(&c, 1) == 0, "a completion of what was before");
	fd = connect_peer();
	int sent = 0;
	enum gompi_net_error error;
	while (gompi_tcp_state.peers[PEER]->link->state != LINK_OPEN)
		tcp->poll(&c, 1);
	no_memory = true;
	while ((error = start_send()) == NET_SUCCESS)
		sent++;
	no_memory = false;
	CHECK(error == NET_AGAIN && sent > 0, "error %d after %d", error, sent);
	int completed = 0;
	for (; tcp->poll(&c, 1) == 1; completed++)
		CHECK(c.op == &op && c.error == NET_SUCCESS, "completion %d", completed);
	CHECK(completed == sent, "%d completions of %d", completed, sent);
	CHECK(start_send() == NET_SUCCESS && tcp->poll(&c, 1) == 1, "one more");
	tcp->close();
	close(fd);
	close(listener);
	return unit_end();
}
