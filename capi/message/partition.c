// Partitioned communication (MPI-5.0 chapter 4). Each pair of requests performs one handshake: the sender sends the
// number and size of its partitions, and a channel, which is a context that only these two requests use. Afterwards
// each partition of the sender is a message on the channel; the tag is the number of the partition. MPI_Pready sends
// the message. At the receiver, MPI_Start posts a receive for each partition of the sender, so the two sides may divide
// the data differently. If the handshake completes later than MPI_Start, its completion posts the receives. The thread
// that completes the last message of a round completes the request. The channel belongs to the communicator's VCI,
// whose lock guards the requests and messages.
#include <stdlib.h>

#include "base/poll.h"
#include "info/info.h"
#include "message/call.h"
#include "message/z_calls.h"

// equals core/comm.Partition: the low bits of the contexts for handshakes and channels
enum { PARTITIONED_CONTEXT = 3 };

// The contents of the handshake message, which the sender sends.
struct handshake_data {
	uint64_t channel, partition_count, partition_bytes;
};

// The state of the receive or send that performs the handshake. It is freed when that message completes, even if the
// partitioned request was freed before.
struct handshake {
	struct partitioned *receiver; // the receiving request; NULL if that request has been freed, or for a send
	struct handshake_data data;
};

struct partitioned {
	struct gompi_request *request;
	bool is_send;
	bool awaits_handshake;                 // a receive has been started, and the handshake has not completed yet
	gompi_a32 receives_posted;             // the receives of this round have been posted
	int32_t partition_count, sender_count; // number of partitions of this request, and of the sender's request
	int64_t partition_bytes, sender_bytes; // bytes of a partition of this request, and of the sender's request
	uint64_t channel;                      // context of the partitions' messages; 0 before a receiver's handshake
	struct handshake *handshake;           // the handshake message, while its receive is pending; else NULL
	int handshake_error;                   // error class if the handshake has failed
	struct handshake_data data;            // the contents of the handshake message
	gompi_ai32 open_count; // incomplete partitions of this round, plus calls that are starting partitions
	_Atomic(uint8_t)
		*partition_done; // [partition of the sender]: 1 if it is ready (sender) or has arrived (receiver)
};

static const struct gompi_request_kind partitioned_kind;

static struct partitioned *partitioned_of(const struct gompi_request *r) { return (struct partitioned *)r->object; }

// Returns the context of a new channel. The context has the format of the ids that NewID of core/p2p returns, but bit
// 39 is set, so that the context differs from all these ids. The context maps to VCI l.
static uint64_t new_channel(const struct gompi_vci *l) {
	static gompi_a64 channels;
	const struct gompi_messages *m = l->messages;
	return (uint64_t)(m->node.self + 1) << 40 | 1ULL << 39 |
	       ((gompi_add(&channels, 1) * GOMPI_VCI_COUNT + (uint64_t)(l - m->vci)) << 4 & ((1ULL << 39) - 1)) |
	       PARTITIONED_CONTEXT;
}

// Returns a buffer for n bytes of the request's data at offset `from`.
static struct gompi_buffer partition_buffer(const struct gompi_buffer *b, int64_t from, int64_t n) {
	struct gompi_buffer partition = *b;
	partition.size = n;
	partition.type_held_by_owner = true; // the request retains the datatype
	if (b->type == NULL)
		partition.at += from;
	else
		partition.skip_bytes += from;
	return partition;
}

// Describes one message of the partitioned request r. Fills in the fields that gompi_call_check fills in for an
// ordinary message.
static struct gompi_request partition_message(const struct gompi_request *r, uint64_t context, int tag) {
	return (struct gompi_request){.context = context,
				      .comm = r->comm,
				      .source = r->source,
				      .peer = r->peer,
				      .world = r->world,
				      .tag = tag,
				      .vci = r->vci,
				      .receive = r->receive};
}

// Stores the error of a message as the error of the round, unless the round already has an error.
static void fail_round(struct gompi_request *r, const struct gompi_error_status *v) {
	if (r->result.class != MPI_SUCCESS)
		return;
	r->result.class = v->class;
	r->text = strdup(v->text);
}

// Ends a round whose last message is complete. The caller holds the lock.
static void complete_round(struct gompi_vci *l, struct gompi_request *r) {
	l->has_completions = true;
	gompi_store_release(&r->state, REQUEST_COMPLETE);
}

static void on_partition_complete(struct gompi_vci *l, struct gompi_request *m) {
	struct gompi_request *r = (struct gompi_request *)m->object;
	struct partitioned *p = partitioned_of(r);
	m->kind = NULL;
	if (__builtin_expect(m->result.class != MPI_SUCCESS, 0)) {
		struct gompi_error_status v;
		gompi_request_error_detail(m, &v);
		fail_round(r, &v);
	}
	if (!p->is_send)
		gompi_store_release(&p->partition_done[m->tag], 1); // pairs with the acquire in partition_has_arrived
	gompi_request_release(m);
	if (gompi_sub_seq_cst(&p->open_count, 1) == 1)
		complete_round(l, r);
}

static const struct gompi_request_kind partition_kind = {.on_complete = on_partition_complete};

// Returns a request for a message that could not complete immediately. Returns NULL if out of memory, which becomes the
// round's error.
static struct gompi_request *alloc_partition(const struct gompi_request *described, struct gompi_request *round) {
	struct gompi_request *m = gompi_request_alloc(described->vci);
	if (m == NULL) {
		struct gompi_error_status v;
		gompi_set_error(&v, MPI_ERR_NO_MEM, "out of memory for the message of a partition");
		fail_round(round, &v);
		return NULL;
	}
	*m = *described;
	m->kind = &partition_kind;
	m->object = (uintptr_t)round;
	return m;
}

// Posts the receives of a round after the handshake. The caller holds the lock.
static void post_partitions(struct gompi_request *r) {
	struct partitioned *p = partitioned_of(r);
	struct gompi_vci *l = r->vci;
	p->awaits_handshake = false;
	r->result = (struct gompi_result){.source = r->peer, .tag = r->tag, .class = p->handshake_error};
	if (p->handshake_error == MPI_SUCCESS) {
		int32_t n = p->sender_count, done_count = 1;
		r->result.bytes = n * p->sender_bytes;
		gompi_store(&p->open_count, n + 1); // +1, so that the round cannot end before all receives are posted
		for (int32_t i = 0; i < n; i++) {
			struct gompi_request q = partition_message(r, p->channel, i);
			q.buf = partition_buffer(&r->buf, i * p->sender_bytes, p->sender_bytes);
			q.receive = true;
			struct gompi_request *m = alloc_partition(&q, r);
			if (m != NULL)
				gompi_receive_locked(l, m);
			else
				done_count++;
		}
		gompi_store_release(&p->receives_posted, 1); // pairs with the acquire in partition_has_arrived
		if (gompi_sub_seq_cst(&p->open_count, done_count) != done_count)
			return;
	}
	complete_round(l, r);
}

// Validates and stores the contents of the handshake message. If they are invalid or memory has run out, stores the
// error class in handshake_error; every round of the request then ends with this error.
static void store_handshake(struct partitioned *p, const struct handshake_data *w, const struct gompi_result *result) {
	const struct gompi_request *r = p->request;
	p->data = *w;
	p->channel = w->channel;
	if (result->class != MPI_SUCCESS || result->bytes != sizeof *w || (w->channel & 15) != PARTITIONED_CONTEXT ||
	    gompi_vci_of(r->vci->messages, w->channel) != r->vci) {
		p->handshake_error = MPI_ERR_OTHER;
		p->channel = 0;
	} else if (w->partition_count > INT32_MAX || w->partition_bytes >= 1ULL << 62 ||
		   (w->partition_count > 0 && w->partition_bytes > (1ULL << 62) / w->partition_count) ||
		   (int64_t)(w->partition_count * w->partition_bytes) > r->buf.size) {
		p->handshake_error = MPI_ERR_TRUNCATE;
	} else if ((p->partition_done = calloc(w->partition_count + 1, 1)) == NULL) {
		p->handshake_error = MPI_ERR_NO_MEM;
	} else {
		p->sender_count = (int32_t)w->partition_count;
		p->sender_bytes = (int64_t)w->partition_bytes;
	}
}

static void on_handshake_complete(struct gompi_vci *l, struct gompi_request *m) {
	struct handshake *k = (struct handshake *)m->object;
	struct partitioned *p = k->receiver;
	(void)l;
	if (p != NULL) {
		p->handshake = NULL;
		store_handshake(p, &k->data, &m->result);
	}
	gompi_request_release(m);
	if (p != NULL && p->awaits_handshake)
		post_partitions(p->request);
}

static void free_handshake(struct gompi_request *m) { free((struct handshake *)m->object); }

static const struct gompi_request_kind handshake_kind = {.on_complete = on_handshake_complete,
							 .free_object = free_handshake};

// Sends or receives the handshake message. Returns false if out of memory.
static bool start_handshake(struct partitioned *p, uint64_t context) {
	const struct gompi_request *r = p->request;
	struct gompi_vci *l = r->vci;
	struct gompi_request q = partition_message(r, context | PARTITIONED_CONTEXT, r->tag);
	struct handshake_data w = {p->channel, (uint64_t)p->partition_count, (uint64_t)p->partition_bytes};
	q.buf = (struct gompi_buffer){.at = (char *)&w, .size = sizeof w};
	q.receive = !p->is_send;
	if (p->is_send && gompi_try_send(&q))
		return true;
	struct handshake *k = malloc(sizeof *k);
	if (k == NULL)
		return false;
	gompi_vci_lock(l);
	struct gompi_request *m = gompi_request_alloc(l);
	if (m != NULL) {
		k->data = w;
		k->receiver = p->is_send ? NULL : p;
		p->handshake = p->is_send ? NULL : k;
		q.buf.at = (char *)&k->data;
		*m = q;
		m->kind = &handshake_kind;
		m->object = (uintptr_t)k;
		if (p->is_send)
			gompi_send_locked(l, m);
		else
			gompi_receive_locked(l, m);
	}
	gompi_vci_unlock_started(l);
	if (m == NULL)
		free(k);
	return m != NULL;
}

static int start_partitioned(struct gompi_request *r, struct gompi_error_status *v) {
	(void)v;
	struct partitioned *p = partitioned_of(r);
	struct gompi_vci *l = r->vci;
	bool is_proc_null = r->peer == MPI_PROC_NULL;
	gompi_request_free_text(r);
	r->result = (struct gompi_result){.source = is_proc_null ? MPI_PROC_NULL : MPI_ANY_SOURCE, .tag = MPI_ANY_TAG};
	if (p->partition_done != NULL)
		memset((void *)(uintptr_t)p->partition_done, 0,
		       (size_t)(p->is_send ? p->partition_count : p->sender_count));
	gompi_store(&p->open_count, p->partition_count);
	gompi_store(&p->receives_posted, 0);
	if (p->is_send ? p->partition_count == 0 : is_proc_null) {
		gompi_request_complete(r);
		return MPI_SUCCESS;
	}
	if (p->is_send)
		return MPI_SUCCESS;
	gompi_vci_lock(l);
	if (p->channel != 0 || p->handshake_error != MPI_SUCCESS)
		post_partitions(r);
	else
		p->awaits_handshake = true;
	gompi_vci_unlock_started(l);
	gompi_call_run_plans(l->messages);
	return MPI_SUCCESS;
}

// Releases an inactive request. Its handshake may still be pending.
static void release_partitioned(struct gompi_request *r) {
	struct partitioned *p = partitioned_of(r);
	struct gompi_vci *l = r->vci;
	gompi_vci_lock(l);
	if (p->handshake != NULL)
		p->handshake->receiver = NULL;
	if (!p->is_send && p->channel != 0)
		gompi_close_context_locked(l, p->channel);
	gompi_vci_unlock_progress(l);
}

static void free_partitioned(struct gompi_request *r) {
	gompi_request_free_text(r);
	free((void *)(uintptr_t)partitioned_of(r)->partition_done);
	free(partitioned_of(r));
}

static void partitioned_error_detail(const struct gompi_request *r, struct gompi_error_status *v) {
	const struct partitioned *p = partitioned_of(r);
	if (r->result.class != p->handshake_error)
		gompi_request_text_detail(r, v);
	else if (p->handshake_error == MPI_ERR_TRUNCATE)
		gompi_set_error(
			v, p->handshake_error,
			"the sender has %llu partition%s of %llu bytes, but the receive buffer has only %lld bytes",
			(unsigned long long)p->data.partition_count, p->data.partition_count == 1 ? "" : "s",
			(unsigned long long)p->data.partition_bytes, (long long)r->buf.size);
	else
		gompi_set_error(v, p->handshake_error, "%s",
				p->handshake_error == MPI_ERR_NO_MEM
					? "out of memory for the partitions of the request"
					: "the sender described its partitions in an invalid message (internal error)");
}

static void describe_partitions_wait(const struct gompi_request *r, struct gompi_wait_desc *what,
				     struct gompi_wait_details *t) {
	const struct partitioned *p = partitioned_of(r);
	what->reason = p->is_send ? GOMPI_FOR_RECEIPT : GOMPI_FOR_PARTITIONS;
	for (int32_t i = 0; p->is_send && i < p->partition_count; i++)
		if (gompi_load(&p->partition_done[i]) == 0) {
			what->reason = GOMPI_FOR_SELF;
			what->peer = r->vci->messages->node.self;
			t->operation = "MPI_Pready";
			return;
		}
}

static const struct gompi_request_kind partitioned_kind = {.describe_wait = describe_partitions_wait,
							   .start = start_partitioned,
							   .release = release_partitioned,
							   .free_object = free_partitioned,
							   .error_detail = partitioned_error_detail,
							   .free_needs_inactive = true};

// Checks the arguments of MPI_Psend_init or MPI_Precv_init and fills in q. Returns 0 or the error class, described in
// v.
static int check_init(struct gompi_request *q, struct gompi_envelope *e, int parts, bool is_send, MPI_Info info,
		      const MPI_Request *request, struct gompi_error_status *v) {
	int64_t elements = e->count;
	bool counts_are_valid = parts >= 0 && elements >= 0 && !__builtin_mul_overflow(elements, parts, &e->count);
	if (!counts_are_valid)
		e->count = 0;
	// MPI_ANY_SOURCE and MPI_ANY_TAG are invalid here. gompi_call_check rejects them only for a send, so wildcards
	// are checked as the arguments of a send.
	bool has_wildcard = e->peer == MPI_ANY_SOURCE || e->tag == MPI_ANY_TAG;
	if (gompi_call_check(q, e, !is_send && !has_wildcard, v) != MPI_SUCCESS)
		return v->class;
	if (!counts_are_valid)
		return gompi_set_error(v, MPI_ERR_COUNT,
				       "partitions is %d and count is %lld; neither may be negative, and their product "
				       "must fit into 64 bits",
				       parts, (long long)elements);
	if (request == NULL)
		return gompi_set_error(v, MPI_ERR_ARG, "request is NULL");
	if (info != MPI_INFO_NULL && !gompi_info_exists(info))
		return gompi_set_error(v, MPI_ERR_INFO, "%#llx is not an info object, or has been freed",
				       (unsigned long long)(uintptr_t)info);
	return MPI_SUCCESS;
}

static int init_partitioned(struct gompi_envelope *e, int parts, bool is_send, MPI_Info info, MPI_Request *request) {
	struct gompi_request q = {0}, *r = NULL;
	struct gompi_error_status v;
	if (check_init(&q, e, parts, is_send, info, request, &v) != MPI_SUCCESS)
		return gompi_call_raise(&v, e->call, e->comm);
	struct partitioned *p = calloc(1, sizeof *p);
	if (p != NULL && (!is_send || (p->partition_done = calloc((size_t)parts + 1, 1)) != NULL))
		r = gompi_request_new(q.vci->messages, q.context, &partitioned_kind, (uintptr_t)p);
	if (r == NULL) {
		if (p != NULL)
			free((void *)(uintptr_t)p->partition_done);
		free(p);
		return gompi_raise_no_request(e->call, q.comm);
	}
	gompi_store(&r->state, REQUEST_INACTIVE);
	r->persistent = true;
	r->comm = q.comm;
	r->peer = q.peer;
	r->tag = q.tag;
	r->source = q.source;
	r->world = q.world;
	r->buf = q.buf;
	gompi_buffer_retain(&r->buf);
	p->request = r;
	p->is_send = is_send;
	p->partition_count = parts;
	p->partition_bytes = parts > 0 ? q.buf.size / parts : 0;
	if (is_send)
		p->channel = new_channel(r->vci);
	if (q.peer != MPI_PROC_NULL && !start_handshake(p, q.context)) {
		gompi_request_destroy(r, &v);
		return gompi_raise_no_request(e->call, q.comm);
	}
	*request = (MPI_Request)gompi_request_handle(r);
	return MPI_SUCCESS;
}

int gompi_psend_init_c(const void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
		       MPI_Comm comm, MPI_Info info, MPI_Request *request) {
	struct gompi_envelope e = {"MPI_Psend_init", buf, count, datatype, dest, tag, comm};
	return init_partitioned(&e, partitions, true, info, request);
}
GOMPI_ENTRY(MPI_Psend_init_c, gompi_psend_init_c);

int gompi_precv_init_c(void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
		       MPI_Comm comm, MPI_Info info, MPI_Request *request) {
	struct gompi_envelope e = {"MPI_Precv_init", buf, count, datatype, dest, tag, comm};
	return init_partitioned(&e, partitions, false, info, request);
}
GOMPI_ENTRY(MPI_Precv_init_c, gompi_precv_init_c);

// Returns the partitioned request of a handle. If the handle has no such request, raises an error, stores the code
// that the call must return in *rc, and returns NULL.
static struct gompi_request *partitioned_request(const char *call, MPI_Request request, int *rc) {
	struct gompi_request *r = gompi_request_of(request);
	if (__builtin_expect(r != NULL && r->kind == &partitioned_kind, 1))
		return r;
	if (gompi_load(&gompi_app_messages) == NULL)
		*rc = gompi_call_error(call, MPI_ERR_COMM, "MPI is not initialized, or has been finalized");
	else
		*rc = gompi_request_error(call, r != NULL ? r->comm : (uintptr_t)MPI_COMM_NULL, MPI_ERR_REQUEST,
					  "%#zx is not a partitioned request", (size_t)request);
	return NULL;
}

// Sends a partition. Returns true if the partition is complete or has failed.
static bool send_partition(struct gompi_request *r, int i) {
	struct partitioned *p = partitioned_of(r);
	struct gompi_vci *l = r->vci;
	struct gompi_request q = partition_message(r, p->channel, i);
	q.buf = partition_buffer(&r->buf, i * p->partition_bytes, p->partition_bytes);
	if (gompi_try_send(&q))
		return true;
	gompi_vci_lock(l);
	struct gompi_request *m = alloc_partition(&q, r);
	if (m != NULL)
		gompi_send_locked(l, m);
	gompi_vci_unlock_started(l);
	return m == NULL;
}

// Marks n partitions as ready and sends them. Their numbers are in `list`; if `list` is NULL, they are the n numbers
// from `first` on. If one of the partitions does not exist or is already ready, marks no partition and raises an error.
static int mark_ready(const char *call, struct gompi_request *r, int n, int first, const int list[]) {
	struct partitioned *p = partitioned_of(r);
	struct gompi_error_status v = {.class = MPI_SUCCESS};
	int k = 0, done_count = 1;
	if (!p->is_send || gompi_load_acquire(&r->state) == REQUEST_INACTIVE)
		gompi_set_error(&v, MPI_ERR_REQUEST,
				"the request is not an active partitioned send: call MPI_Start first");
	for (; v.class == MPI_SUCCESS && k < n; k++) {
		int i = list != NULL ? list[k] : first + k;
		if ((uint32_t)i >= (uint32_t)p->partition_count)
			gompi_set_error(&v, MPI_ERR_ARG,
					"partition is %d, but the request has %d partition%s, numbered from 0", i,
					p->partition_count, p->partition_count == 1 ? "" : "s");
		else if (gompi_swap_seq_cst(&p->partition_done[i], 1) != 0)
			gompi_set_error(&v, MPI_ERR_ARG, "partition %d has already been marked ready since MPI_Start",
					i);
	}
	if (__builtin_expect(v.class != MPI_SUCCESS, 0)) {
		// The number with index k - 1 is invalid, so only the partitions before it have been marked.
		for (k -= 2; k >= 0; k--)
			gompi_store(&p->partition_done[list != NULL ? list[k] : first + k], 0);
		return gompi_request_raise(&v, call, r->comm);
	}
	if (n == 0)
		return MPI_SUCCESS;
	gompi_add(&p->open_count, 1); // one more, so that the round cannot end before this call has finished
	for (k = 0; k < n; k++)
		done_count += r->peer == MPI_PROC_NULL || send_partition(r, list != NULL ? list[k] : first + k);
	if (gompi_sub_seq_cst(&p->open_count, done_count) == done_count)
		gompi_request_complete(r);
	return MPI_SUCCESS;
}

int gompi_pready(int partition, MPI_Request request) {
	int rc;
	struct gompi_request *r = partitioned_request("MPI_Pready", request, &rc);
	return r != NULL ? mark_ready("MPI_Pready", r, 1, partition, NULL) : rc;
}
GOMPI_ENTRY(MPI_Pready, gompi_pready);

int gompi_pready_range(int partition_low, int partition_high, MPI_Request request) {
	const char *call = "MPI_Pready_range";
	int rc;
	struct gompi_request *r = partitioned_request(call, request, &rc);
	if (r == NULL)
		return rc;
	int64_t n = (int64_t)partition_high - partition_low + 1;
	if (n <= 0)
		return gompi_request_error(
			call, r->comm, MPI_ERR_ARG,
			"partition_low is %d and partition_high is %d; partition_low must not exceed partition_high",
			partition_low, partition_high);
	// n may not fit into an int. So limit n to partition_count + 1: with this value, too, mark_ready finds that the
	// range is too long.
	int32_t partition_count = partitioned_of(r)->partition_count;
	return mark_ready(call, r,
			  n <= partition_count          ? (int)n
			  : partition_count < INT32_MAX ? partition_count + 1
							: partition_count,
			  partition_low, NULL);
}
GOMPI_ENTRY(MPI_Pready_range, gompi_pready_range);

int gompi_pready_list(int length, const int array_of_partitions[], MPI_Request request) {
	const char *call = "MPI_Pready_list";
	int rc;
	struct gompi_request *r = partitioned_request(call, request, &rc);
	if (r == NULL)
		return rc;
	if (length < 0 || (length > 0 && array_of_partitions == NULL))
		return gompi_request_error(call, r->comm, MPI_ERR_ARG,
					   "length is %d and array_of_partitions is %p; length must not be negative, "
					   "and the array must not be NULL",
					   length, (const void *)array_of_partitions);
	return mark_ready(call, r, length, 0, array_of_partitions);
}
GOMPI_ENTRY(MPI_Pready_list, gompi_pready_list);

// Returns true if the request is not active, or if all data that the sender has for partition `part` of the receiver
// has arrived. If the sender has no data for this partition, the partition counts as arrived when the request is
// complete. If the partitions of both sides have 0 bytes, the partition numbers of the two sides are mapped in
// proportion.
static bool partition_has_arrived(struct gompi_request *r, int part) {
	struct partitioned *p = partitioned_of(r);
	// acquire: pairs with the release in complete_round
	if (gompi_load_acquire(&r->state) != REQUEST_ACTIVE)
		return true;
	// acquire: pairs with the release in post_partitions
	if (gompi_load_acquire(&p->receives_posted) == 0)
		return false;
	bool none = true;
	int64_t size = p->partition_bytes, their = p->sender_bytes;
	if (size == 0 && their == 0) {
		size = p->sender_count;
		their = p->partition_count;
	}
	if (their == 0)
		return false;
	for (int64_t i = part * size / their; i < p->sender_count && i * their < (part + 1) * size; i++) {
		if (gompi_load_acquire(&p->partition_done[i]) == 0) // pairs with the release in on_partition_complete
			return false;
		none = false;
	}
	return !none;
}

int gompi_parrived(MPI_Request request, int partition, int *flag) {
	const char *call = "MPI_Parrived";
	int rc;
	struct gompi_error_status v = {.class = MPI_SUCCESS};
	if (request == MPI_REQUEST_NULL && flag != NULL) {
		*flag = 1;
		return MPI_SUCCESS;
	}
	if (request == MPI_REQUEST_NULL)
		return gompi_call_error(call, MPI_ERR_ARG, "flag is NULL");
	struct gompi_request *r = partitioned_request(call, request, &rc);
	if (r == NULL)
		return rc;
	const struct partitioned *p = partitioned_of(r);
	if (flag == NULL)
		gompi_set_error(&v, MPI_ERR_ARG, "flag is NULL");
	else if (p->is_send)
		gompi_set_error(&v, MPI_ERR_REQUEST,
				"the request is a partitioned send; the call needs a partitioned receive");
	else if ((uint32_t)partition >= (uint32_t)p->partition_count)
		gompi_set_error(&v, MPI_ERR_ARG, "partition is %d, but the request has %d partition%s, numbered from 0",
				partition, p->partition_count, p->partition_count == 1 ? "" : "s");
	if (v.class != MPI_SUCCESS)
		return gompi_request_raise(&v, call, r->comm);
	*flag = partition_has_arrived(r, partition) || (gompi_test_progress() && partition_has_arrived(r, partition));
	if (*flag)
		gompi_poll_reset();
	else
		gompi_test_unsuccessful();
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Parrived, gompi_parrived);
