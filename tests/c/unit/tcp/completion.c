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

static struct fi_context2 context;
static char data[8];

static int start_read(uint64_t bytes) {
	struct iovec v = {data, bytes};
	struct fi_rma_iov from = {0, bytes, 99};
	struct fi_msg_rma m = {
		.msg_iov = &v, .iov_count = 1, .addr = PEER, .rma_iov = &from, .rma_iov_count = 1, .context = &context};
	return (int)fi_readmsg(tcp.ep, &m, FI_COMPLETION);
}

static int connect_peer(void) {
	const uint64_t confirm = TCP_CONFIRM;
	int fd = connect_here();
	CHECK(request_link(fd, PEER, ME, 0, NULL, NULL) == ANSWER_YES, "the peer");
	send(fd, &confirm, sizeof confirm, 0);
	return fd;
}

/* Starts a read and answers it as the peer, without data and with the error code `key`. Returns the error that the read
 * reports, or 0 if the read succeeds. */
static int answer_without_data(int fd, uint64_t bytes, uint64_t key) {
	struct gompi_tcp_head h;
	struct fi_cq_msg_entry e;
	struct fi_cq_err_entry error = {0};
	ssize_t n;
	CHECK(start_read(bytes) == 0, "a read");
	read_all(fd, &h, sizeof h);
	CHECK(h.kind == TCP_READ && h.bytes == bytes, "what is asked for");
	h = (struct gompi_tcp_head){.kind = TCP_DONE, .id = h.id, .key = key};
	send(fd, &h, sizeof h, 0);
	while ((n = fi_cq_read(tcp.cq, &e, 1)) == -FI_EAGAIN) {
	}
	if (n == -FI_EAVAIL)
		CHECK(fi_cq_readerr(tcp.cq, &error, 0) == 1 && error.op_context == &context, "whose error it is");
	else
		CHECK(n == 1 && e.op_context == &context, "whose completion it is");
	CHECK(fi_cq_read(tcp.cq, &e, 1) == -FI_EAGAIN, "another completion");
	return error.err;
}

int main(void) {
	int port, listener = listen_here(&port);
	unit_node(1);
	open_tcp(port);
	int fd = connect_peer();
	CHECK(answer_without_data(fd, 0, 0) == 0, "a read of nothing");
	CHECK(answer_without_data(fd, 8, FI_EACCES) == FI_EACCES && failed_count == 0, "an error");
	CHECK(answer_without_data(fd, 8, 0) == FI_ENOTCONN && failed_count == 1, "a read without data");
	wait_and_close(fd);
	gompi_tcp_end();

	/* Closes an endpoint while a read is pending, so that its completion is not fetched. Then, with the next
	 * endpoint, sends until no memory is left for a completion. */
	open_tcp(port);
	CHECK(start_read(8) == 0, "a read");
	gompi_tcp_end();
	open_tcp(port);
	struct fi_cq_msg_entry e;
	CHECK(fi_cq_read(tcp.cq, &e, 1) == -FI_EAGAIN, "a completion of what was before");
	fd = connect_peer();
	int sent = 0;
	ssize_t rc;
	while (gompi_tcp_state.peers[PEER]->link->state != LINK_OPEN)
		fi_cq_read(tcp.cq, &e, 1);
	no_memory = true;
	while ((rc = fi_send(tcp.ep, data, 8, NULL, PEER, &context)) == 0)
		sent++;
	no_memory = false;
	CHECK(rc == -FI_EAGAIN && sent > 0, "class %zd after %d", rc, sent);
	int completed = 0;
	for (ssize_t n; (n = fi_cq_read(tcp.cq, &e, 1)) != -FI_EAGAIN; completed++)
		CHECK(n == 1 && e.op_context == &context, "completion %d", completed);
	CHECK(completed == sent, "%d completions of %d", completed, sent);
	CHECK(fi_send(tcp.ep, data, 8, NULL, PEER, &context) == 0 && fi_cq_read(tcp.cq, &e, 1) == 1, "one more");
	gompi_tcp_end();
	close(fd);
	close(listener);
	return unit_end();
}
