/* Proves, with a simulated UCX: the first access to a peer's memory requests its remote key, and later accesses use the
 * key. A limited number of unused keys is kept. An access to memory that the peer has not registered fails. If memory
 * is low, an access is refused, or the peer counts as failed; nothing waits forever. Messages wait for a posted buffer,
 * and those that are not from a process of the job are failed receives. A failed peer ends what waits for it.
 *
 * sanitizer: address (one thread)
 * wrap: malloc calloc
 */
#include "../unit.h"

#include "ucx/ucx.c"

enum { PEER = 1, SIZE = 3, KEYS = 200 };

static bool no_memory;
void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes) { return no_memory ? NULL : __real_malloc(bytes); }
void *__real_calloc(size_t n, size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes) { return no_memory ? NULL : __real_calloc(n, bytes); }

/* --- The simulated UCX */

static struct {
	unsigned id;
	uint64_t key;
	size_t bytes;
} sent; /* the last message */
static int requests, gets, keys, failures, released;

static ucs_status_t fake_ep_create(ucp_worker_h worker, const ucp_ep_params_t *params, ucp_ep_h *ep) {
	*ep = (ucp_ep_h)&sent;
	return UCS_OK;
}
static ucs_status_ptr_t fake_send(ucp_ep_h ep, unsigned id, const void *head, size_t head_bytes, const void *data,
				  size_t bytes, const ucp_request_param_t *param) {
	sent.id = id;
	sent.bytes = bytes;
	memcpy(&sent.key, data, sizeof sent.key);
	requests += id == UCX_RKEY_REQUEST;
	return NULL;
}
static ucs_status_t fake_unpack(ucp_ep_h ep, const void *packed, ucp_rkey_h *rkey) {
	*rkey = __real_malloc(1);
	keys++;
	return UCS_OK;
}
static void fake_destroy(ucp_rkey_h rkey) {
	free(rkey);
	keys--;
}
static ucs_status_ptr_t fake_get(ucp_ep_h ep, void *to, size_t bytes, uint64_t address, ucp_rkey_h rkey,
				 const ucp_request_param_t *param) {
	CHECK(rkey != NULL, "a get without a key");
	gets++;
	return NULL;
}
static unsigned fake_progress(ucp_worker_h worker) { return 0; }
static ucs_status_t fake_arm(ucp_worker_h worker) { return UCS_OK; }
static void fake_release(ucp_worker_h worker, void *data) { released++; }
static ucs_status_ptr_t fake_close(ucp_ep_h ep, const ucp_request_param_t *param) { return NULL; }

static void on_failed(int peer) {
	CHECK(peer == PEER, "peer %d", peer);
	failures++;
}

static void network(void) {
	static const struct gompi_net_events events = {.on_failed = on_failed};
	gompi_ucp = (struct gompi_ucp){.ep_create = fake_ep_create,
				       .am_send_nbx = fake_send,
				       .ep_rkey_unpack = fake_unpack,
				       .rkey_destroy = fake_destroy,
				       .get_nbx = fake_get,
				       .worker_progress = fake_progress,
				       .worker_arm = fake_arm,
				       .am_data_release = fake_release,
				       .ep_close_nbx = fake_close};
	static char addresses[SIZE * GOMPI_ADDRESS_BYTES];
	const struct gompi_net_job job = {.size = SIZE, .addresses = addresses, .secret = {1, 2}};
	char why[GOMPI_NET_ERROR_BYTES];
	CHECK(gompi_ucx_ops.begin(&job, &events, why), "%s", why);
}

/* --- Tests */

static struct gompi_net_op op;
static char data[8];

static enum gompi_net_error start_read(uint64_t key) { return gompi_ucx_ops.read(PEER, data, 8, NULL, key, 0, &op); }

/* Returns the error of the only completion, or NET_AGAIN if there is none. */
static enum gompi_net_error completion(void) {
	struct gompi_net_completion c[2];
	const int n = gompi_ucx_ops.poll(c, 2);
	CHECK(n <= 1 && (n == 0 || c[0].op == &op), "%d completions", n);
	return n == 0 ? NET_AGAIN : c[0].error;
}

static struct gompi_ucx_peer *peer(void) {
	enum gompi_net_error error;
	return gompi_ucx_peer(PEER, &error);
}

/* Answers the request for a remote key as the peer. */
static void reply(uint64_t key, bool is_known) {
	uint64_t words[2] = {key, 1};
	gompi_ucx_on_rkey_reply(peer(), (const char *)words, is_known ? sizeof words : sizeof key);
}

static void remote_keys(void) {
	CHECK(start_read(100) == NET_SUCCESS && requests == 1 && sent.id == UCX_RKEY_REQUEST && sent.key == 100, "%d",
	      requests);
	CHECK(completion() == NET_AGAIN && gets == 0, "a get before the key");
	reply(100, true);
	CHECK(completion() == NET_SUCCESS && gets == 1, "%d gets", gets);
	CHECK(start_read(100) == NET_SUCCESS && completion() == NET_SUCCESS && requests == 1, "a second request");
	CHECK(start_read(101) == NET_SUCCESS, "memory that is not registered");
	reply(101, false);
	CHECK(completion() == NET_FAILED && peer()->rkeys->key == 100, "an unknown key is kept");
	for (uint64_t key = 1000; key < 1000 + KEYS; key++) {
		CHECK(start_read(key) == NET_SUCCESS, "a read");
		reply(key, true);
		CHECK(completion() == NET_SUCCESS, "key %llu", (unsigned long long)key);
	}
	CHECK(keys > 32 && keys < KEYS / 2, "%d keys are kept", keys);
	no_memory = true;
	const enum gompi_net_error error = start_read(5000);
	no_memory = false;
	CHECK(error == NET_NO_MEM && completion() == NET_AGAIN, "error %d without memory", error);
	CHECK(start_read(5000) == NET_SUCCESS && sent.key == 5000, "the request is sent later");
	reply(5000, true);
	CHECK(completion() == NET_SUCCESS, "and answered");
}

/* Lets UCX deliver a frame of 8 bytes from the peer. `change` has the bits of the head to flip. */
static void deliver(uint64_t change) {
	static struct {
		struct gompi_message_head head;
		uint64_t data;
	} m;
	const ucp_am_recv_param_t param = {.recv_attr = UCP_AM_RECV_ATTR_FLAG_DATA};
	m.data = 7;
	struct gompi_message_names peer = gompi_ucx_state.names;
	peer.self = PEER;
	gompi_message_head_write((char *)&m.data, sizeof m.data, 0, &peer);
	m.head.mac ^= change;
	on_frame(NULL, &m.head, sizeof m.head, &m.data, sizeof m.data, &param);
}

static void frames(void) {
	deliver(0);
	CHECK(completion() == NET_AGAIN && released == 0 && gompi_ucx_ops.arm(), "a message without a buffer");
	CHECK(gompi_ucx_ops.post_receive(data, 8, NULL, &op) == NET_SUCCESS && !gompi_ucx_ops.arm(), "a buffer");
	CHECK(completion() == NET_SUCCESS && released == 1 && data[0] == 7, "the message");
	CHECK(gompi_ucx_ops.post_receive(data, 8, NULL, &op) == NET_SUCCESS, "a buffer");
	deliver(1);
	CHECK(completion() == NET_FAILED && released == 2, "a forged message");
	CHECK(gompi_ucx_ops.post_receive(data, 7, NULL, &op) == NET_SUCCESS, "a small buffer");
	deliver(0);
	CHECK(completion() == NET_FAILED && released == 3, "a message that is too long");
}

/* Checks that the peer counts as failed if there is no memory for its frame or for a reply: it would wait forever. */
static void failing(bool by_frame) {
	failures = 0;
	CHECK(start_read(9000 + by_frame) == NET_SUCCESS && completion() == NET_AGAIN, "a read that waits");
	const struct gompi_ucx_rkey_head h = {1};
	struct gompi_ucx_peer *p = peer();
	no_memory = true;
	if (by_frame)
		deliver(0);
	else
		gompi_ucx_on_rkey_request(p, (const char *)&h, sizeof h);
	no_memory = false;
	CHECK(failures == 1 && completion() == NET_PEER_FAILED, "%d failures", failures);
	CHECK(start_read(1) == NET_PEER_FAILED, "an access to a failed peer");
}

int main(void) {
	network();
	remote_keys();
	frames();
	failing(false);
	gompi_ucx_free_rkeys(gompi_ucx_state.peers[PEER]);
	free(gompi_ucx_state.peers[PEER]);
	gompi_ucx_state.peers[PEER] = NULL;
	failing(true);
	gompi_ucx_free_rkeys(gompi_ucx_state.peers[PEER]);
	free(gompi_ucx_state.peers[PEER]);
	free(gompi_ucx_state.peers), free(gompi_ucx_state.addresses);
	gompi_completions_clear(&gompi_ucx_state.completions);
	return unit_end();
}
