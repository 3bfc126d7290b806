// Partitioned communication (MPI-5.0 chapter 4). The two sides perform one handshake, after both have created their
// requests. In it, the sender sends the number and size of its partitions and a channel: a context that only these two
// requests use. From then on each partition is a message on the channel with its number as the tag. MPI_Pready sends
// it. MPI_Start posts its receive or, if the handshake completes later, the handshake does. So the two sides may divide
// the data differently. The thread that completes the last message of a round completes the request. The channel is in
// the communicator's lane, whose lock guards both.
#include <stdlib.h>

#include "base/poll.h"
#include "info/info.h"
#include "message/call.h"
#include "message/z_calls.h"

// equals core/comm.Partition: context of the communicator for the handshake, and of the channel
enum { PARTITIONED_CONTEXT = 3 };

// The contents of the handshake message, which the sender sends.
struct sender_word {
	uint64_t channel, parts, size;
};

// The receive or send of the handshake. It outlives a request that is freed before the handshake.
struct meeting {
	struct partitioned *whose; // the receiving request; NULL if that has been freed, or for a send
	struct sender_word word;
};

struct partitioned {
	struct gompi_request *request;
	bool sends;
	bool waits;               // a receive has been started, and the handshake has not completed yet
	gompi_a32 posted;         // the receives of this round have been posted
	int32_t parts, theirs;    // number of partitions on this side, and at the sender
	int64_t size, their;      // bytes of a partition on this side, and at the sender
	uint64_t channel;         // 0 until the handshake has completed
	struct meeting *meeting;  // the receive of the handshake
	int refused;              // error class if the handshake has failed
	struct sender_word word;  // the contents of the handshake message
	gompi_ai32 left;          // of this round: partitions not complete, plus calls that are starting some
	_Atomic(uint8_t) *passed; // [partition of the sender]: 1 if it is ready (sender) or has arrived (receiver)
};

static const struct gompi_request_kind partitioned_kind;

static struct partitioned *partitioned_of(const struct gompi_request *r) { return (struct partitioned *)r->object; }

// Returns the context of a new channel. It is built like core/p2p's NewID, but lies in the upper half of its range (bit
// 39) and maps to lane l.
static uint64_t new_channel(const struct gompi_lane *l) {
	static gompi_a64 channels;
	const struct gompi_messages *m = l->home;
	return (uint64_t)(m->node.self + 1) << 40 | 1ULL << 39 |
	       ((gompi_add(&channels, 1) * GOMPI_LANES + (uint64_t)(l - m->lane)) << 4 & ((1ULL << 39) - 1)) |
	       PARTITIONED_CONTEXT;
}

// Returns a buffer for n bytes of the request's data from offset from on.
static struct gompi_buffer partition_buffer(const struct gompi_buffer *b, int64_t from, int64_t n) {
	struct gompi_buffer part = *b;
	part.size = n;
	part.kept = true; // the request retains the datatype
	if (b->type == NULL)
		part.at += from;
	else
		part.skip += from;
	return part;
}

// Describes a message of the request, as gompi_call_check does.
static struct gompi_request partition_message(const struct gompi_request *r, uint64_t context, int tag) {
	return (struct gompi_request){.context = context,
				      .comm = r->comm,
				      .source = r->source,
				      .peer = r->peer,
				      .world = r->world,
				      .tag = tag,
				      .lane = r->lane,
				      .receive = r->receive};
}

// Records the error of a message as that of the round, unless there is one already.
static void fail_round(struct gompi_request *r, const struct gompi_verdict *v) {
	if (r->result.class != MPI_SUCCESS)
		return;
	r->result.class = v->class;
	r->text = strdup(v->text);
}

// Ends a round whose last message is complete. The caller holds the lock.
static void end_partitioned(struct gompi_lane *l, struct gompi_request *r) {
	l->completed = true;
	gompi_store_release(&r->state, REQUEST_COMPLETE);
}

static void part_is_over(struct gompi_lane *l, struct gompi_request *m) {
	struct gompi_request *r = (struct gompi_request *)m->object;
	struct partitioned *p = partitioned_of(r);
	m->kind = NULL;
	if (__builtin_expect(m->result.class != MPI_SUCCESS, 0)) {
		struct gompi_verdict v;
		gompi_request_why(m, &v);
		fail_round(r, &v);
	}
	if (!p->sends)
		gompi_store_release(&p->passed[m->tag], 1); // pairs with the acquire in part_has_arrived
	gompi_request_give(m);
	if (gompi_sub_total(&p->left, 1) == 1)
		end_partitioned(l, r);
}

static const struct gompi_request_kind part_kind = {.over = part_is_over};

// Returns a request for a message that could not complete immediately. Returns NULL if out of memory, which becomes the
// round's error.
static struct gompi_request *take_part(const struct gompi_request *described, struct gompi_request *of) {
	struct gompi_request *m = gompi_request_take(described->lane);
	if (m == NULL) {
		struct gompi_verdict v;
		gompi_error(&v, MPI_ERR_NO_MEM, "out of memory for a partition");
		fail_round(of, &v);
		return NULL;
	}
	*m = *described;
	m->kind = &part_kind;
	m->object = (uintptr_t)of;
	return m;
}

// Posts the receives of a round after the handshake. The caller holds the lock.
static void post_parts(struct gompi_request *r) {
	struct partitioned *p = partitioned_of(r);
	struct gompi_lane *l = r->lane;
	p->waits = false;
	r->result = (struct gompi_result){.source = r->peer, .tag = r->tag, .class = p->refused};
	if (p->refused == MPI_SUCCESS) {
		int32_t n = p->theirs, over = 1;
		r->result.bytes = n * p->their;
		gompi_store(&p->left, n + 1); // one more, so that the round cannot end before all are posted
		for (int32_t i = 0; i < n; i++) {
			struct gompi_request q = partition_message(r, p->channel, i);
			q.buf = partition_buffer(&r->buf, i * p->their, p->their);
			q.receive = true;
			struct gompi_request *m = take_part(&q, r);
			if (m != NULL)
				gompi_receive_locked(l, m);
			else
				over++;
		}
		gompi_store_release(&p->posted, 1); // pairs with the acquire in part_has_arrived
		if (gompi_sub_total(&p->left, over) != over)
			return;
	}
	end_partitioned(l, r);
}

// Validates and stores the contents of the handshake message.
static void take_word(struct partitioned *p, const struct sender_word *w, const struct gompi_result *got) {
	const struct gompi_request *r = p->request;
	p->word = *w;
	p->channel = w->channel;
	if (got->class != MPI_SUCCESS || got->bytes != sizeof *w || (w->channel & 15) != PARTITIONED_CONTEXT ||
	    gompi_lane_of(r->lane->home, w->channel) != r->lane) {
		p->refused = MPI_ERR_OTHER;
		p->channel = 0;
	} else if (w->parts > INT32_MAX || w->size >= 1ULL << 62 ||
		   (w->parts > 0 && w->size > (1ULL << 62) / w->parts) || (int64_t)(w->parts * w->size) > r->buf.size) {
		p->refused = MPI_ERR_TRUNCATE;
	} else if ((p->passed = calloc(w->parts + 1, 1)) == NULL) {
		p->refused = MPI_ERR_NO_MEM;
	} else {
		p->theirs = (int32_t)w->parts;
		p->their = (int64_t)w->size;
	}
}

static void meeting_is_over(struct gompi_lane *l, struct gompi_request *m) {
	struct meeting *k = (struct meeting *)m->object;
	struct partitioned *p = k->whose;
	(void)l;
	if (p != NULL) {
		p->meeting = NULL;
		take_word(p, &k->word, &m->result);
	}
	gompi_request_give(m);
	if (p != NULL && p->waits)
		post_parts(p->request);
}

static void drop_meeting(struct gompi_request *m) { free((struct meeting *)m->object); }

static const struct gompi_request_kind meeting_kind = {.over = meeting_is_over, .drop = drop_meeting};

// Sends or receives the handshake message. Returns false if out of memory.
static bool meet(struct partitioned *p, uint64_t context) {
	const struct gompi_request *r = p->request;
	struct gompi_lane *l = r->lane;
	struct gompi_request q = partition_message(r, context | PARTITIONED_CONTEXT, r->tag);
	struct sender_word w = {p->channel, (uint64_t)p->parts, (uint64_t)p->size};
	q.buf = (struct gompi_buffer){.at = (char *)&w, .size = sizeof w};
	q.receive = !p->sends;
	if (p->sends && gompi_send_at_once(&q))
		return true;
	struct meeting *k = malloc(sizeof *k);
	if (k == NULL)
		return false;
	gompi_lane_take(l);
	struct gompi_request *m = gompi_request_take(l);
	if (m != NULL) {
		k->word = w;
		k->whose = p->sends ? NULL : p;
		p->meeting = p->sends ? NULL : k;
		q.buf.at = (char *)&k->word;
		*m = q;
		m->kind = &meeting_kind;
		m->object = (uintptr_t)k;
		if (p->sends)
			gompi_send_locked(l, m);
		else
			gompi_receive_locked(l, m);
	}
	gompi_lane_end_started(l);
	if (m == NULL)
		free(k);
	return m != NULL;
}

static int start_partitioned(struct gompi_request *r, struct gompi_verdict *v) {
	(void)v;
	struct partitioned *p = partitioned_of(r);
	struct gompi_lane *l = r->lane;
	bool nobody = r->peer == MPI_PROC_NULL;
	gompi_request_drop_text(r);
	r->result = (struct gompi_result){.source = nobody ? MPI_PROC_NULL : MPI_ANY_SOURCE, .tag = MPI_ANY_TAG};
	if (p->passed != NULL)
		memset((void *)(uintptr_t)p->passed, 0, (size_t)(p->sends ? p->parts : p->theirs));
	gompi_store(&p->left, p->parts);
	gompi_store(&p->posted, 0);
	if (p->sends ? p->parts == 0 : nobody) {
		gompi_request_complete(r);
		return MPI_SUCCESS;
	}
	if (p->sends)
		return MPI_SUCCESS;
	gompi_lane_take(l);
	if (p->channel != 0 || p->refused != MPI_SUCCESS)
		post_parts(r);
	else
		p->waits = true;
	gompi_lane_end_started(l);
	gompi_call_step(l->home);
	return MPI_SUCCESS;
}

// Releases an inactive request: at most the handshake is still pending.
static void release_partitioned(struct gompi_request *r) {
	struct partitioned *p = partitioned_of(r);
	struct gompi_lane *l = r->lane;
	gompi_lane_take(l);
	if (p->meeting != NULL)
		p->meeting->whose = NULL;
	if (!p->sends && p->channel != 0)
		gompi_forget_locked(l, p->channel);
	gompi_lane_end(l);
}

static void drop_partitioned(struct gompi_request *r) {
	gompi_request_drop_text(r);
	free((void *)(uintptr_t)partitioned_of(r)->passed);
	free(partitioned_of(r));
}

static void say_refused(const struct gompi_request *r, struct gompi_verdict *v) {
	const struct partitioned *p = partitioned_of(r);
	if (r->result.class != p->refused)
		gompi_request_say_text(r, v);
	else if (p->refused == MPI_ERR_TRUNCATE)
		gompi_error(v, p->refused,
			    "the sender has %llu partitions of %llu bytes, but the receive buffer only %lld bytes",
			    (unsigned long long)p->word.parts, (unsigned long long)p->word.size,
			    (long long)r->buf.size);
	else
		gompi_error(v, p->refused, "%s",
			    p->refused == MPI_ERR_NO_MEM ? "out of memory for partitions"
							 : "the message of the sender is damaged (internal error)");
}

static void await_partitions(const struct gompi_request *r, struct gompi_waiting *what, struct gompi_told *t) {
	const struct partitioned *p = partitioned_of(r);
	what->reason = p->sends ? GOMPI_FOR_RECEIPT : GOMPI_FOR_PARTITIONS;
	for (int32_t i = 0; p->sends && i < p->parts; i++)
		if (gompi_load(&p->passed[i]) == 0) {
			what->reason = GOMPI_FOR_SELF;
			what->peer = r->lane->home->node.self;
			t->operation = "MPI_Pready";
			return;
		}
}

static const struct gompi_request_kind partitioned_kind = {.awaits = await_partitions,
							   .start = start_partitioned,
							   .release = release_partitioned,
							   .drop = drop_partitioned,
							   .why = say_refused,
							   .idle_to_free = true};

// Checks the arguments of MPI_Psend_init or MPI_Precv_init and fills in q. Returns 0 or the error class, described in
// v.
static int check_init(struct gompi_request *q, struct gompi_envelope *e, int parts, bool sends, MPI_Info info,
		      const MPI_Request *request, struct gompi_verdict *v) {
	int64_t each = e->count;
	bool counts = parts >= 0 && each >= 0 && !__builtin_mul_overflow(each, parts, &e->count);
	if (!counts)
		e->count = 0;
	// Wildcards are invalid. They are checked as for a send, so that they raise its errors.
	bool wild = e->peer == MPI_ANY_SOURCE || e->tag == MPI_ANY_TAG;
	if (gompi_call_check(q, e, !sends && !wild, v) != MPI_SUCCESS)
		return v->class;
	if (!counts)
		return gompi_error(
			v, MPI_ERR_COUNT,
			"partitions is %d and count %lld; both must not be negative, and the product must fit 64 bits",
			parts, (long long)each);
	if (request == NULL)
		return gompi_error(v, MPI_ERR_ARG, "a result pointer is NULL");
	if (info != MPI_INFO_NULL && !gompi_info_is(info))
		return gompi_error(v, MPI_ERR_INFO, "%#llx is not an info object, or has been freed",
				   (unsigned long long)(uintptr_t)info);
	return MPI_SUCCESS;
}

static int init_partitioned(struct gompi_envelope *e, int parts, bool sends, MPI_Info info, MPI_Request *request) {
	struct gompi_request q = {0}, *r = NULL;
	struct gompi_verdict v;
	if (check_init(&q, e, parts, sends, info, request, &v) != MPI_SUCCESS)
		return gompi_call_refuse(&v, e->call, e->comm);
	struct partitioned *p = calloc(1, sizeof *p);
	if (p != NULL && (!sends || (p->passed = calloc((size_t)parts + 1, 1)) != NULL))
		r = gompi_request_new(q.lane->home, q.context, &partitioned_kind, (uintptr_t)p);
	if (r == NULL) {
		if (p != NULL)
			free((void *)(uintptr_t)p->passed);
		free(p);
		gompi_error(&v, MPI_ERR_NO_MEM, "out of memory for a request, or too many requests are active");
		return gompi_call_refuse(&v, e->call, e->comm);
	}
	gompi_store(&r->state, REQUEST_INACTIVE);
	r->persistent = true;
	r->comm = q.comm;
	r->peer = q.peer;
	r->tag = q.tag;
	r->source = q.source;
	r->world = q.world;
	r->buf = q.buf;
	gompi_buffer_hold(&r->buf);
	p->request = r;
	p->sends = sends;
	p->parts = parts;
	p->size = parts > 0 ? q.buf.size / parts : 0;
	if (sends)
		p->channel = new_channel(r->lane);
	if (q.peer != MPI_PROC_NULL && !meet(p, q.context)) {
		gompi_request_forget(r, &v);
		gompi_error(&v, MPI_ERR_NO_MEM, "out of memory for a request");
		return gompi_call_refuse(&v, e->call, e->comm);
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

// Returns the partitioned request of a handle. Returns NULL if there is none; then the call returns *rc.
static struct gompi_request *partitioned_request(const char *call, MPI_Request request, int *rc) {
	struct gompi_request *r = gompi_request_of(request);
	if (__builtin_expect(r != NULL && r->kind == &partitioned_kind, 1))
		return r;
	struct gompi_verdict v;
	if (gompi_load(&gompi_messages_here) == NULL) {
		*rc = gompi_call_error(call, MPI_ERR_COMM, "MPI is not running");
		return NULL;
	}
	gompi_error(&v, MPI_ERR_REQUEST, "%#zx is not a partitioned request", (size_t)request);
	*rc = gompi_call_refuse(&v, call, r != NULL ? (MPI_Comm)r->comm : MPI_COMM_NULL);
	return NULL;
}

// Sends a partition. Returns true if it is complete.
static bool send_part(struct gompi_request *r, int i) {
	struct partitioned *p = partitioned_of(r);
	struct gompi_lane *l = r->lane;
	struct gompi_request q = partition_message(r, p->channel, i);
	q.buf = partition_buffer(&r->buf, i * p->size, p->size);
	if (gompi_send_at_once(&q))
		return true;
	gompi_lane_take(l);
	struct gompi_request *m = take_part(&q, r);
	if (m != NULL)
		gompi_send_locked(l, m);
	gompi_lane_end_started(l);
	return m == NULL;
}

// Marks n partitions ready, those in list or from first on, and sends them. If one of them does not exist or is already
// ready, marks none.
static int mark_ready(const char *call, struct gompi_request *r, int n, int first, const int list[]) {
	struct partitioned *p = partitioned_of(r);
	struct gompi_verdict v = {.class = MPI_SUCCESS};
	int k = 0, over = 1;
	if (!p->sends || gompi_load_acquire(&r->state) == REQUEST_INACTIVE)
		gompi_error(&v, MPI_ERR_REQUEST, "the request is not an active partitioned send: call MPI_Start first");
	for (; v.class == MPI_SUCCESS && k < n; k++) {
		int i = list != NULL ? list[k] : first + k;
		if ((uint32_t)i >= (uint32_t)p->parts)
			gompi_error(&v, MPI_ERR_ARG,
				    "partition is %d, but the request has %d partitions, numbered from 0", i, p->parts);
		else if (gompi_swap_total(&p->passed[i], 1) != 0)
			gompi_error(&v, MPI_ERR_ARG, "partition %d has already been marked ready", i);
	}
	if (__builtin_expect(v.class != MPI_SUCCESS, 0)) {
		for (k -= 2; k >= 0; k--)
			gompi_store(&p->passed[list != NULL ? list[k] : first + k], 0);
		return gompi_request_raise(&v, call, r->comm);
	}
	if (n == 0)
		return MPI_SUCCESS;
	gompi_add(&p->left, 1); // one more, so that the round cannot end before this call has finished
	for (k = 0; k < n; k++)
		over += r->peer == MPI_PROC_NULL || send_part(r, list != NULL ? list[k] : first + k);
	if (gompi_sub_total(&p->left, over) == over)
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
	struct gompi_verdict v;
	struct gompi_request *r = partitioned_request(call, request, &rc);
	if (r == NULL)
		return rc;
	int64_t n = (int64_t)partition_high - partition_low + 1;
	if (n <= 0) {
		gompi_error(&v, MPI_ERR_ARG, "partition_low is %d and partition_high %d; low must not exceed high",
			    partition_low, partition_high);
		return gompi_request_raise(&v, call, r->comm);
	}
	// One more than the number of partitions is enough to detect the error.
	int32_t most = partitioned_of(r)->parts;
	return mark_ready(call, r, n <= most ? (int)n : most < INT32_MAX ? most + 1 : most, partition_low, NULL);
}
GOMPI_ENTRY(MPI_Pready_range, gompi_pready_range);

int gompi_pready_list(int length, const int array_of_partitions[], MPI_Request request) {
	const char *call = "MPI_Pready_list";
	int rc;
	struct gompi_verdict v;
	struct gompi_request *r = partitioned_request(call, request, &rc);
	if (r == NULL)
		return rc;
	if (length < 0 || (length > 0 && array_of_partitions == NULL)) {
		gompi_error(&v, MPI_ERR_ARG, "length is %d, and array_of_partitions is at address %p", length,
			    (const void *)array_of_partitions);
		return gompi_request_raise(&v, call, r->comm);
	}
	return mark_ready(call, r, length, 0, array_of_partitions);
}
GOMPI_ENTRY(MPI_Pready_list, gompi_pready_list);

// Returns true if all that the sender has of a partition of this side has arrived. If the partitions are empty, the
// shares of the partition numbers count. A partition for which the sender has no data arrives when the request is
// complete.
static bool part_has_arrived(struct gompi_request *r, int part) {
	struct partitioned *p = partitioned_of(r);
	// acquire: pairs with the release in end_partitioned
	if (gompi_load_acquire(&r->state) != REQUEST_ACTIVE)
		return true;
	// acquire: pairs with the release in post_parts
	if (gompi_load_acquire(&p->posted) == 0)
		return false;
	bool none = true;
	int64_t size = p->size, their = p->their;
	if (size == 0 && their == 0) {
		size = p->theirs;
		their = p->parts;
	}
	if (their == 0)
		return false;
	for (int64_t i = part * size / their; i < p->theirs && i * their < (part + 1) * size; i++) {
		if (gompi_load_acquire(&p->passed[i]) == 0) // pairs with the release in part_is_over
			return false;
		none = false;
	}
	return !none;
}

int gompi_parrived(MPI_Request request, int partition, int *flag) {
	const char *call = "MPI_Parrived";
	int rc;
	struct gompi_verdict v = {.class = MPI_SUCCESS};
	if (request == MPI_REQUEST_NULL && flag != NULL) {
		*flag = 1;
		return MPI_SUCCESS;
	}
	if (request == MPI_REQUEST_NULL)
		return gompi_call_error(call, MPI_ERR_ARG, "a result pointer is NULL");
	struct gompi_request *r = partitioned_request(call, request, &rc);
	if (r == NULL)
		return rc;
	const struct partitioned *p = partitioned_of(r);
	if (flag == NULL)
		gompi_error(&v, MPI_ERR_ARG, "a result pointer is NULL");
	else if (p->sends)
		gompi_error(&v, MPI_ERR_REQUEST,
			    "the request is a partitioned send; the call needs a partitioned receive");
	else if ((uint32_t)partition >= (uint32_t)p->parts)
		gompi_error(&v, MPI_ERR_ARG, "partition is %d, but the request has %d partitions, numbered from 0",
			    partition, p->parts);
	if (v.class != MPI_SUCCESS)
		return gompi_request_raise(&v, call, r->comm);
	*flag = part_has_arrived(r, partition) || (gompi_message_progress() && part_has_arrived(r, partition));
	if (*flag)
		gompi_poll_over();
	else
		gompi_message_polled();
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Parrived, gompi_parrived);
