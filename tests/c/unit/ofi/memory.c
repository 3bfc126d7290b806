/* Proves, with a simulated provider of libfabric and each combination of its registration modes (mr_mode): each send
 * and receive buffer lies in a live registration. The registration's descriptor is passed to the provider, and the
 * registration permits no more access than the operation needs. Peer memory is addressed by the key and the address
 * that the mode requires. A registration is closed before its memory returns to the application. All registrations are
 * closed with the network, in an order that providers accept. The simulated provider sometimes refuses memory and keys.
 * Also checks the size above which data is transferred by RDMA instead of in records.
 *
 * sanitizer: address (one thread)
 */
#include "../unit.h"

#include <rdma/fi_cm.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <sys/wait.h>

#include "fabric/frame.h"
#include "fabric/open.h"
#include "fabric/peer.h"
#include "fabric/progress.h"
#include "net/message_head.h"
#include "ofi/ofi.h"
#include "ofi/library.h"
#include "ofi/state.h"

enum {
	PEER = 1,
	RANKS = 2,
	HEAD = sizeof(struct gompi_message_head),
	MAX_BYTES = 5 << 20,
	REMOTE = FI_REMOTE_READ | FI_REMOTE_WRITE
};
static uint64_t seed;
static uint64_t draw(uint64_t below) { return check_random(&seed) % below; }

static int mode;
static bool is_refusing; /* true: the provider refuses some of the calls, at random */
static bool refused(unsigned one_in) { return is_refusing && draw(one_in) == 0; }

/* --- Registrations */

struct mr {
	struct fid_mr mr; /* must be the first member: a struct fid * is cast to a struct mr * */
	struct mr *next;
	char *at;
	size_t bytes;
	uint64_t access;
	bool bound, enabled;
};
static struct mr *live;
static int registered, local_used, remote_used;
static bool ep_open = true, domain_open = true;

/* Returns true if the whole range is mapped memory. Its pages need not be resident. */
static bool is_there(char *at, size_t bytes) {
	enum { PAGE = 4096 };
	unsigned char there[MAX_BYTES / PAGE + 2];
	char *from = (char *)((uintptr_t)at & -(uintptr_t)PAGE);
	size_t pages = ((size_t)(at - from) + bytes + PAGE - 1) / PAGE;
	return pages <= sizeof there && mincore(from, pages * PAGE, there) == 0;
}

static int mr_close(struct fid *f) {
	struct mr **p = &live;
	while (*p != NULL && &(*p)->mr.fid != f)
		p = &(*p)->next;
	CHECK(*p != NULL, "a registration is closed twice");
	CHECK(domain_open, "a registration is closed behind its domain");
	CHECK((mode & FI_MR_ENDPOINT) == 0 || ep_open, "a registration is closed behind its endpoint");
	struct mr *m = *p;
	if (m != NULL) {
		*p = m->next;
		free(m);
	}
	return 0;
}
static int mr_bind(struct fid *f, struct fid *to, uint64_t flags) {
	CHECK((mode & FI_MR_ENDPOINT) != 0 && to == &gompi_ofi_state.ep->fid, "bound to something");
	((struct mr *)f)->bound = true;
	return 0;
}
static int mr_control(struct fid *f, int command, void *arg) {
	struct mr *m = (struct mr *)f;
	CHECK(command == FI_ENABLE && m->bound, "enabled without an endpoint");
	if (refused(30))
		return -FI_ENOMEM;
	m->enabled = true;
	return 0;
}
static struct fi_ops mr_ops = {.close = mr_close, .bind = mr_bind, .control = mr_control};

static int fake_reg(struct fid *domain, const void *at, size_t bytes, uint64_t access, uint64_t offset, uint64_t key,
		    uint64_t flags, struct fid_mr **out, void *context) {
	CHECK(bytes > 0 && offset == 0 && flags == 0, "%zu bytes from %llu on", bytes, (unsigned long long)offset);
	CHECK((mode & FI_MR_LOCAL) != 0 || (access & REMOTE) != 0, "local memory is registered without need");
	CHECK((mode & FI_MR_ALLOCATED) == 0 || is_there((char *)(uintptr_t)at, bytes), "memory that is not there");
	size_t key_bytes = gompi_ofi_state.info->domain_attr->mr_key_size;
	if (mode & FI_MR_PROV_KEY)
		key = draw(8) == 0 && is_refusing ? 0 : check_random(&seed);
	else
		CHECK(key_bytes == 8 || key >> 8 * key_bytes == 0, "key %#llx of %zu bytes", (unsigned long long)key,
		      key_bytes);
	for (struct mr *m = live; m != NULL; m = m->next)
		if (m->mr.key == key && key != 0)
			return -FI_ENOKEY;
	if (refused(6))
		return (mode & FI_MR_PROV_KEY) != 0 || draw(2) ? -FI_ENOMEM : -FI_ENOKEY;
	struct mr *m = calloc(1, sizeof *m);
	*m = (struct mr){.mr = {.fid = {.ops = &mr_ops}, .key = key},
			 .next = live,
			 .at = (char *)(uintptr_t)at,
			 .bytes = bytes,
			 .access = access,
			 .enabled = (mode & FI_MR_ENDPOINT) == 0};
	m->mr.mem_desc = (char *)m + 1; /* an odd address: the library must not dereference the descriptor */
	live = m;
	registered++;
	*out = &m->mr;
	return 0;
}

/* Checks the descriptor that was passed with a buffer: its registration must contain the buffer and permit the access.
 * Without FI_MR_LOCAL the descriptor must be NULL. */
static void check_local(const void *at, size_t bytes, void *descriptor, uint64_t access) {
	struct mr *m = live;
	if ((mode & FI_MR_LOCAL) == 0) {
		CHECK(descriptor == NULL, "a descriptor that nobody wants");
		return;
	}
	while (m != NULL && m->mr.mem_desc != descriptor)
		m = m->next;
	CHECK(m != NULL, "memory without a registration");
	if (m == NULL)
		return;
	CHECK(m->enabled && (m->access & access) == access, "access %#llx of %#llx", (unsigned long long)access,
	      (unsigned long long)m->access);
	CHECK((access & FI_WRITE) == 0 || (m->access & (FI_READ | FI_RECV | REMOTE)) == 0,
	      "memory to be sent is registered for more: %#llx", (unsigned long long)m->access);
	CHECK((const char *)at >= m->at && (const char *)at + bytes <= m->at + m->bytes,
	      "bytes outside of their registration");
	local_used++;
}

/* Checks the remote address and key of an RDMA operation, and returns the memory. The peer's memory is memory of this
 * process. */
static char *check_remote(uint64_t address, size_t bytes, uint64_t key, uint64_t access) {
	struct mr *m = live;
	while (m != NULL && (m->mr.key != key || (m->access & REMOTE) == 0))
		m = m->next;
	CHECK(m != NULL && m->enabled && (m->access & access) != 0, "key %#llx", (unsigned long long)key);
	if (m == NULL)
		return NULL;
	uint64_t offset = mode & FI_MR_VIRT_ADDR ? address - (uint64_t)(uintptr_t)m->at : address;
	CHECK(offset <= m->bytes && bytes <= m->bytes - offset, "address %#llx, %zu bytes", (unsigned long long)address,
	      bytes);
	remote_used++;
	return m->at + offset;
}

/* --- Operations in flight. The provider executes them later and then checks their registrations again */

enum { MAX_IN_FLIGHT = 4096 };
static struct in_flight {
	void *op;      /* the context of the operation */
	size_t length; /* length of a received message, with its head */
	char *at;
	void *descriptor;
	size_t bytes;
	uint64_t access; /* the kind of operation: FI_SEND, FI_RECV, FI_WRITE or FI_READ */
	uint64_t address, key;
} in_flight[MAX_IN_FLIGHT], posted_buffers[MAX_IN_FLIGHT];
static int in_flight_n, posted_buffers_n, buffers_total;

static ssize_t begin(struct in_flight u) {
	if (refused(4) || in_flight_n == MAX_IN_FLIGHT)
		return -FI_EAGAIN;
	check_local(u.at, u.bytes, u.descriptor, u.access);
	in_flight[in_flight_n++] = u;
	return 0;
}

static ssize_t fake_send(struct fid_ep *ep, const void *at, size_t bytes, void *descriptor, fi_addr_t to,
			 void *context) {
	CHECK(bytes > gompi_net.inject_bytes + HEAD, "%zu bytes are not injected", bytes);
	return begin((struct in_flight){context, 0, (char *)(uintptr_t)at, descriptor, bytes, FI_SEND, 0, 0});
}
static ssize_t fake_inject(struct fid_ep *ep, const void *at, size_t bytes, fi_addr_t to) {
	CHECK(bytes <= gompi_net.inject_bytes + HEAD, "%zu bytes are injected", bytes);
	return refused(4) ? -FI_EAGAIN : 0;
}
static ssize_t fake_recv(struct fid_ep *ep, void *at, size_t bytes, void *descriptor, fi_addr_t from, void *context) {
	CHECK(bytes == GOMPI_FRAME_BYTES + HEAD, "a place of %zu", bytes);
	check_local(at, bytes, descriptor, FI_RECV);
	posted_buffers[posted_buffers_n++] = (struct in_flight){context, 0, at, descriptor, bytes, FI_RECV, 0, 0};
	return 0;
}
static ssize_t move(const struct fi_msg_rma *m, uint64_t access, uint64_t flags) {
	CHECK(m->iov_count == 1 && m->rma_iov_count == 1 && m->msg_iov->iov_len == m->rma_iov->len, "pieces");
	CHECK((flags & FI_COMPLETION) != 0 && ((flags & FI_DELIVERY_COMPLETE) != 0) == (access == FI_WRITE), "flags");
	return begin((struct in_flight){m->context, 0, m->msg_iov->iov_base, m->desc[0], m->msg_iov->iov_len, access,
					m->rma_iov->addr, m->rma_iov->key});
}
static ssize_t fake_writemsg(struct fid_ep *ep, const struct fi_msg_rma *m, uint64_t flags) {
	return move(m, FI_WRITE, flags);
}
static ssize_t fake_readmsg(struct fid_ep *ep, const struct fi_msg_rma *m, uint64_t flags) {
	return move(m, FI_READ, flags);
}

static ssize_t fake_read(struct fid_cq *cq, void *to, size_t most) {
	if (in_flight_n == 0)
		return -FI_EAGAIN;
	int i = (int)draw((uint64_t)in_flight_n);
	struct in_flight u = in_flight[i];
	in_flight[i] = in_flight[--in_flight_n];
	check_local(u.at, u.bytes, u.descriptor, u.access);
	if (u.access == FI_READ || u.access == FI_WRITE) {
		char *there = check_remote(u.address, u.bytes, u.key,
					   u.access == FI_WRITE ? FI_REMOTE_WRITE : FI_REMOTE_READ);
		if (there != NULL)
			memcpy(u.access == FI_WRITE ? there : u.at, u.access == FI_WRITE ? u.at : there, u.bytes);
	}
	*(struct fi_cq_msg_entry *)to = (struct fi_cq_msg_entry){.op_context = u.op, .len = u.length};
	return 1;
}

static int fake_insert(struct fid_av *av, const void *address, size_t n, fi_addr_t *out, uint64_t flags,
		       void *context) {
	*out = 0;
	return (int)n;
}

static int closed;
static int fake_close(struct fid *f) {
	closed++;
	if (f == &gompi_ofi_state.ep->fid) {
		if (mode & FI_MR_ENDPOINT)
			CHECK(live == NULL, "an endpoint is closed before what is registered for it");
		else if (mode & FI_MR_LOCAL) /* posted receive buffers must stay registered until here */
			CHECK(live != NULL, "buffers are no longer registered");
		ep_open = false;
	}
	if (f == &gompi_ofi_state.domain->fid) {
		CHECK(live == NULL, "a domain is closed before what is registered in it");
		domain_open = false;
	}
	return 0;
}

static void fake_freeinfo(struct fi_info *i) {}
static void take(int peer, const char *data, size_t length) {}

static void provider(size_t key_bytes) {
	static struct fi_ops fid_ops = {.close = fake_close};
	static struct fi_ops_msg msg = {.inject = fake_inject, .send = fake_send, .recv = fake_recv};
	static struct fi_ops_rma rma = {.writemsg = fake_writemsg, .readmsg = fake_readmsg};
	static struct fi_ops_cq cq_ops = {.read = fake_read};
	static struct fi_ops_av av_ops = {.insert = fake_insert};
	static struct fi_ops_mr mr = {.reg = fake_reg};
	static struct fid_ep ep = {.fid = {.ops = &fid_ops}, .msg = &msg, .rma = &rma};
	static struct fid_cq cq = {.fid = {.ops = &fid_ops}, .ops = &cq_ops};
	static struct fid_av av = {.fid = {.ops = &fid_ops}, .ops = &av_ops};
	static struct fid_domain domain = {.fid = {.ops = &fid_ops}, .mr = &mr};
	static struct fid_fabric fabric = {.fid = {.ops = &fid_ops}};
	static struct fi_domain_attr domain_attr;
	static struct fi_info info = {.domain_attr = &domain_attr};
	static fi_addr_t peers[RANKS] = {FI_ADDR_NOTAVAIL, FI_ADDR_NOTAVAIL};
	static const struct gompi_port_handler handler = {take, NULL};
	unit_node(1);
	struct gompi_node n = gompi_node;
	n.processes = unit_processes(RANKS, (int32_t[]){0, 1}, (int32_t[]){0, -1});
	gompi_node_open(&n);
	domain_attr.mr_mode = mode;
	domain_attr.mr_key_size = key_bytes;
	gompi_libfabric.freeinfo = fake_freeinfo;
	gompi_ofi_state = (struct gompi_ofi_state){.info = &info,
						   .domain = &domain,
						   .fabric = &fabric,
						   .ep = &ep,
						   .cq = &cq,
						   .av = &av,
						   .fd = -1,
						   .addresses = calloc(RANKS, 8),
						   .address_bytes = 8,
						   .peer = malloc(sizeof peers)};
	memcpy(gompi_ofi_state.peer, peers, sizeof peers);
	CHECK(gompi_message_names_open(&gompi_ofi_state.names,
				       &(struct gompi_net_job){.size = RANKS, .secret = {1, 2}}),
	      "names");
	gompi_net.ops = &gompi_ofi_ops;
	gompi_net.needs_local = (mode & FI_MR_LOCAL) != 0;
	gompi_net.inject_bytes = 64, gompi_net.max_op_bytes = 1 << 30;
	gompi_net.size = gompi_net.capacity = RANKS;
	for (int i = 0; i < FABRIC_PORTS; i++)
		gompi_fabric_set_handler((enum gompi_port)i, &handler);
	CHECK(gompi_peers_open() && gompi_net_post_receives() && posted_buffers_n > 0, "opening");
	buffers_total = posted_buffers_n;
	gompi_fabric_open_flag = true;
}

/* --- Tests */

static uint64_t forged; /* number of messages with a wrong head that have been delivered */

/* Delivers a frame from the peer that acknowledges all frames sent to the peer. The frame has the number `number`, or
 * no records if has_record is false. Returns false if no receive buffer is posted, or if a forged message is delivered
 * instead. */
static bool deliver_frame(bool has_record, uint32_t number) {
	struct gompi_peer *p = gompi_peer_find(PEER);
	if (p == NULL || posted_buffers_n == 0 || in_flight_n == MAX_IN_FLIGHT)
		return false;
	struct {
		struct gompi_frame_head head;
		struct gompi_record_head record;
		uint64_t data;
	} frame = {{.sequence = number, .received = p->frames_sent}, {.port = FABRIC_RMA, .length = 8}, 7};
	const size_t length = has_record ? sizeof frame : sizeof frame.head;
	struct in_flight u = posted_buffers[--posted_buffers_n];
	memcpy(u.at + HEAD, &frame, length);
	struct gompi_message_names peer = gompi_ofi_state.names;
	peer.self = PEER;
	gompi_message_head_write(u.at + HEAD, length, 0, &peer);
	u.length = HEAD + length;
	if (number % 3 == 1 && draw(2) == 0) { /* a message that is not from the peer comes first */
		struct in_flight wrong = u;
		u.at[draw(HEAD + sizeof frame.head)] ^= 1;
		in_flight[in_flight_n++] = wrong;
		forged++;
		return false;
	}
	in_flight[in_flight_n++] = u;
	return true;
}
static void credits(void) { deliver_frame(false, 0); }

/* Delivers frames from the peer in any order. Checks that each receive buffer is replaced, even if memory for another
 * buffer becomes available only later. */
static void test_out_of_order(int n) {
	uint32_t number = 0;
	while (number < (uint32_t)n) {
		struct gompi_frame *held = NULL, *f;
		while (number == 0 && is_refusing && (mode & FI_MR_LOCAL) != 0 && (f = gompi_frame_alloc()) != NULL)
			f->next = held, held = f; /* takes all frame buffers before the first frame arrives */
		for (int i = (int)draw(GOMPI_SEND_WINDOW / 2); i > 0; i--)
			number += deliver_frame(true, number);
		while (in_flight_n > 0)
			gompi_fabric_progress();
		while ((f = held) != NULL) {
			held = f->next;
			gompi_frame_free(f);
		}
		for (int i = 0; i < 200; i++)
			gompi_fabric_progress();
		CHECK(gompi_peer_find(PEER)->next_sequence == number && posted_buffers_n == buffers_total,
		      "%u of %u frames have been taken, and there are %d of %d buffers",
		      gompi_peer_find(PEER)->next_sequence, number, posted_buffers_n, buffers_total);
	}
}

static void records(int n) {
	for (int i = 0; i < n; i++) {
		size_t length = 8 + draw(i % 10 == 0 ? GOMPI_MAX_RECORD_BYTES - 7 : 200);
		int class;
		enum gompi_fabric_wait wait = draw(8) == 0 ? FABRIC_ANSWER : FABRIC_TRY;
		char *at = gompi_fabric_reserve(PEER, FABRIC_RMA, length, wait, &class);
		if (at != NULL) {
			memset(at, 7, length);
			gompi_fabric_commit(PEER, length, draw(3) == 0 ? FABRIC_NOW : FABRIC_PENDING);
		} else {
			CHECK(wait == FABRIC_TRY &&
				      (class == MPI_ERR_PENDING || (is_refusing && class == MPI_ERR_NO_MEM)),
			      "no space: %d", class);
		}
		gompi_fabric_progress();
		if (draw(5) == 0)
			credits();
	}
}

struct transfer {
	struct gompi_transfer transfer;
	int class;
	bool over;
	char *copy; /* a copy of the data written, or NULL */
};
static int transfers_failed, transfers_done;

static void on_done(struct gompi_transfer *t, int class) {
	struct transfer *x = (struct transfer *)t;
	CHECK(!x->over, "a transfer is over twice");
	for (struct mr *m = live; m != NULL; m = m->next) /* the transfer must have no registration left */
		CHECK((m->access & REMOTE) != 0 || m->at + m->bytes <= t->local || t->local + t->bytes <= m->at,
		      "a registration is left");
	x->class = class;
	x->over = true;
	transfers_done++;
	transfers_failed += class != MPI_SUCCESS;
}

static void transfers(int n) {
	enum { WINDOW = MAX_BYTES + 100 };
	char *window = unit_memory(WINDOW), *send = unit_memory(MAX_BYTES), *model = malloc(WINDOW);
	struct gompi_region region, to_read;
	memset(window, 1, WINDOW), memset(model, 1, WINDOW);
	for (size_t i = 0; i < MAX_BYTES; i++)
		send[i] = (char)(i * 7 + i / 1000);
	mprotect(send, MAX_BYTES, PROT_READ); /* a send buffer may be in read-only memory */
	while (gompi_fabric_register(window, WINDOW, true, &region) != MPI_SUCCESS)
		CHECK(is_refusing, "a window cannot be registered");
	while (gompi_fabric_register(send, MAX_BYTES, false, &to_read) != MPI_SUCCESS)
		CHECK(is_refusing, "a message cannot be registered");
	CHECK(region.key != 0 && region.address == (mode & FI_MR_VIRT_ADDR ? (uint64_t)(uintptr_t)window : 0),
	      "a region");
	for (int i = 0; i < n; i++) {
		uint64_t bytes = 1 + draw(i % 8 == 0 ? MAX_BYTES : 20000), offset = draw(MAX_BYTES - bytes + 1),
			 from = draw(MAX_BYTES - bytes + 1);
		bool write = draw(2);
		char *into = write ? NULL : malloc(bytes);
		struct transfer x = {.transfer = {.done = on_done,
						  .local = write ? send + from : into,
						  .bytes = bytes,
						  .region = region,
						  .offset = offset,
						  .peer = PEER,
						  .is_write = write}};
		if (!write && draw(4) == 0)
			x.transfer.region = to_read;
		const char *source = x.transfer.region.key == region.key ? model : send;
		gompi_fabric_transfer(&x.transfer);
		while (!x.over)
			gompi_fabric_progress();
		CHECK(x.class == MPI_SUCCESS || is_refusing, "class %d", x.class);
		if (x.class == MPI_SUCCESS && write)
			memcpy(model + offset, send + from, bytes);
		else if (x.class == MPI_SUCCESS)
			CHECK(memcmp(into, source + offset, bytes) == 0, "what has been read");
		else if (write) /* the window's bytes become the model: a failed write may have stored some data */
			memcpy(model + offset, window + offset, bytes);
		free(into);
	}
	CHECK(memcmp(model, window, WINDOW) == 0, "what has been written");
	int before = 0, after = 0;
	for (struct mr *m = live; m != NULL; m = m->next)
		before += (m->access & REMOTE) != 0;
	gompi_fabric_unregister(&region);
	gompi_fabric_unregister(&to_read);
	for (struct mr *m = live; m != NULL; m = m->next)
		after += (m->access & REMOTE) != 0;
	CHECK(before == 2 && after == 0, "%d regions, and %d in the end", before, after);
	munmap(window, WINDOW), munmap(send, MAX_BYTES);
	free(model);
}

/* Checks the size from which data is transferred by RDMA: 8 KiB with an RDMA device, 24 KiB without. */
static void test_use_rdma(void) {
	enum { KIB = 1 << 10 };
	gompi_fabric_has_rdma = true;
	CHECK(!gompi_fabric_use_rdma(8 * KIB - 1) && gompi_fabric_use_rdma(8 * KIB) &&
		      gompi_fabric_use_rdma(UINT64_MAX),
	      "by a device");
	gompi_fabric_has_rdma = false;
	CHECK(!gompi_fabric_use_rdma(24 * KIB - 1) && gompi_fabric_use_rdma(24 * KIB) &&
		      gompi_fabric_use_rdma(UINT64_MAX),
	      "by processors");
}

/* Closes the network while operations are in flight. If `lost` is true, the peer fails first. */
static void closing(bool lost) {
	static struct transfer x[16];
	static char memory[16][9000], window[9000];
	struct gompi_region region;
	memset(window, 1, sizeof window), memset(memory, 1, sizeof memory);
	while (gompi_fabric_register(window, sizeof window, true, &region) != MPI_SUCCESS)
		CHECK(is_refusing, "a window cannot be registered");
	test_use_rdma();
	for (int i = 0; i < 16; i++) {
		x[i].transfer = (struct gompi_transfer){.done = on_done,
							.local = memory[i],
							.bytes = sizeof memory[i],
							.region = region,
							.peer = PEER,
							.is_write = i % 2};
		gompi_fabric_transfer(&x[i].transfer);
	}
	if (!is_refusing)
		if (lost) {
			gompi_peer_mark_failed(gompi_peer_find(PEER));
			for (int i = 0; i < 200; i++)
				gompi_fabric_progress();
			for (int i = 0; i < 16; i++)
				CHECK(x[i].over, "a transfer to nobody is not over");
		}
	gompi_net_end();
	CHECK(closed == 5 && live == NULL, "%d things are closed", closed);
}

int main(void) {
	static const int bits[] = {FI_MR_LOCAL, FI_MR_VIRT_ADDR, FI_MR_PROV_KEY, FI_MR_ALLOCATED, FI_MR_ENDPOINT};
	enum { BITS = sizeof bits / sizeof *bits };
	for (int i = 0; i < 1 << (BITS + 1); i++) {
		fflush(stdout);
		pid_t child = fork(); /* each combination starts without the registrations of other combinations */
		if (child == 0) {
			check_errors = 0;
			seed = (uint64_t)i * 1000;
			for (int k = 0; k < BITS; k++)
				mode |= i >> k & 1 ? bits[k] : 0;
			provider(i % 3 == 0 ? 4 : 8);
			is_refusing = i >> BITS & 1;
			records(300);
			transfers(40);
			test_out_of_order(200);
			closing(i % 2 == (i >> 2) % 2);
			CHECK(forged > 10 && gompi_load(&gompi_net_counts.frames_dropped) == forged,
			      "%llu of %llu forged messages dropped",
			      (unsigned long long)gompi_load(&gompi_net_counts.frames_dropped),
			      (unsigned long long)forged);
			CHECK((mode & FI_MR_LOCAL) == 0 || local_used > 300, "%d uses of memory", local_used);
			CHECK(remote_used > (is_refusing ? 10 : 40) && transfers_done >= 40 &&
				      (transfers_failed == 0 || is_refusing),
			      "%d uses of a peer's, %d of %d failed", remote_used, transfers_failed, transfers_done);
			_exit(check_errors != 0);
		}
		int status = -1;
		waitpid(child, &status, 0);
		CHECK(status == 0, "combination %d ended with %#x", i, (unsigned)status);
	}
	return unit_end();
}
