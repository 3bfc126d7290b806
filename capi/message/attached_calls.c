// Attaching and detaching buffers, and waiting for what is in them (MPI-5.0 3.6).
#include <stdlib.h>

#include "message/call.h"
#include "message/z_calls.h"

// Whose buffer a call is about. Errors are raised on the communicator; MPI_COMM_NULL: the process' buffer, and on none.
struct owner {
	const char *call;
	MPI_Comm comm;
	struct gompi_messages *m;
	struct gompi_comm *c;
	struct gompi_attached *a; // NULL: the communicator has never had one
};

static __attribute__((cold)) int refuse_owner(const struct owner *o, const struct gompi_verdict *v) {
	return gompi_call_refuse(v, o->call, o->comm);
}

static __attribute__((cold)) int no_place(const struct owner *o) {
	struct gompi_verdict v;
	gompi_error(&v, MPI_ERR_ARG, "the address of a result is NULL");
	return refuse_owner(o, &v);
}

// The process' buffer. Returns false if MPI is not running.
static inline bool is_process(struct owner *o, const char *call, int *rc) {
	struct gompi_messages *m = gompi_load(&gompi_messages_here);
	*o = (struct owner){call, MPI_COMM_NULL, m, NULL, m != NULL ? &m->attached : NULL};
	if (__builtin_expect(m == NULL, 0))
		*rc = gompi_call_error(call, MPI_ERR_COMM, "MPI is not running");
	return m != NULL;
}

// A communicator's. Returns false if there is no such communicator.
static inline bool is_comm(struct owner *o, const char *call, MPI_Comm comm, int *rc) {
	struct gompi_messages *m = gompi_load(&gompi_messages_here);
	struct gompi_comm *c = m != NULL ? gompi_comm_get(comm) : NULL;
	if (__builtin_expect(c == NULL, 0)) {
		*rc = gompi_not_a_communicator(comm, call);
		return false;
	}
	*o = (struct owner){call, comm, m, c, gompi_load_acquire(&c->attached)};
	return true;
}

static int attach(const struct owner *o, void *addr, int64_t size) {
	struct gompi_verdict v;
	return __builtin_expect(gompi_attached_begin(o->a, addr, size, &v) == MPI_SUCCESS, 1) ? MPI_SUCCESS
											      : refuse_owner(o, &v);
}

// Stores address and size of the buffer; the size as an int, or as an MPI_Count.
static inline int detach(const struct owner *o, void *buffer_addr, int *size, MPI_Count *large) {
	struct gompi_verdict v;
	void *addr = NULL;
	int64_t n = 0;
	if (__builtin_expect(buffer_addr == NULL || (size == NULL && large == NULL), 0))
		return no_place(o);
	if (o->a != NULL && gompi_attached_end(o->m, o->a, o->call, &addr, &n, &v) != MPI_SUCCESS)
		return refuse_owner(o, &v);
	*(void **)buffer_addr = addr;
	if (large != NULL)
		*large = n;
	else
		*size = n > INT32_MAX ? MPI_UNDEFINED : (int)n;
	return MPI_SUCCESS;
}

static int flush(const struct owner *o) {
	struct gompi_verdict v;
	return o->a == NULL || gompi_attached_flush(o->m, o->a, o->call, &v) == MPI_SUCCESS ? MPI_SUCCESS
											    : refuse_owner(o, &v);
}

static int iflush(const struct owner *o, MPI_Request *request) {
	struct gompi_verdict v;
	if (request == NULL)
		return no_place(o);
	MPI_Request r =
		o->a == NULL ? GOMPI_REQUEST_DONE : gompi_attached_iflush(o->m, o->a, o->c != NULL ? o->c->id : 0);
	if (r == MPI_REQUEST_NULL) {
		gompi_error(&v, MPI_ERR_NO_MEM, "no memory for a request, or too many are live");
		return refuse_owner(o, &v);
	}
	*request = r;
	return MPI_SUCCESS;
}

int gompi_buffer_attach_c(void *buffer, MPI_Count size) {
	struct owner o;
	int rc;
	return is_process(&o, "MPI_Buffer_attach", &rc) ? attach(&o, buffer, size) : rc;
}
GOMPI_ENTRY(MPI_Buffer_attach_c, gompi_buffer_attach_c)

int gompi_buffer_detach(void *buffer_addr, int *size) {
	struct owner o;
	int rc;
	return is_process(&o, "MPI_Buffer_detach", &rc) ? detach(&o, buffer_addr, size, NULL) : rc;
}
GOMPI_ENTRY(MPI_Buffer_detach, gompi_buffer_detach)

int gompi_buffer_detach_c(void *buffer_addr, MPI_Count *size) {
	struct owner o;
	int rc;
	return is_process(&o, "MPI_Buffer_detach", &rc) ? detach(&o, buffer_addr, NULL, size) : rc;
}
GOMPI_ENTRY(MPI_Buffer_detach_c, gompi_buffer_detach_c)

int gompi_buffer_flush(void) {
	struct owner o;
	int rc;
	return is_process(&o, "MPI_Buffer_flush", &rc) ? flush(&o) : rc;
}
GOMPI_ENTRY(MPI_Buffer_flush, gompi_buffer_flush)

int gompi_buffer_iflush(MPI_Request *request) {
	struct owner o;
	int rc;
	return is_process(&o, "MPI_Buffer_iflush", &rc) ? iflush(&o, request) : rc;
}
GOMPI_ENTRY(MPI_Buffer_iflush, gompi_buffer_iflush)

// What a communicator has for a buffer from its first one on. NULL: there is no memory.
static __attribute__((noinline)) struct gompi_attached *first_attached(struct gompi_comm *c) {
	struct gompi_attached *a = calloc(1, sizeof *a), *other = NULL;
	if (a == NULL || gompi_change_once(&c->attached, &other, a))
		return a;
	free(a);
	return other;
}

int gompi_comm_attach_buffer_c(MPI_Comm comm, void *buffer, MPI_Count size) {
	struct owner o;
	int rc;
	if (!is_comm(&o, "MPI_Comm_attach_buffer", comm, &rc))
		return rc;
	if (o.a == NULL && (o.a = first_attached(o.c)) == NULL) {
		struct gompi_verdict v;
		gompi_error(&v, MPI_ERR_NO_MEM, "no memory for a buffer of %lld bytes", (long long)size);
		return refuse_owner(&o, &v);
	}
	return attach(&o, buffer, size);
}
GOMPI_ENTRY(MPI_Comm_attach_buffer_c, gompi_comm_attach_buffer_c)

int gompi_comm_detach_buffer(MPI_Comm comm, void *buffer_addr, int *size) {
	struct owner o;
	int rc;
	return is_comm(&o, "MPI_Comm_detach_buffer", comm, &rc) ? detach(&o, buffer_addr, size, NULL) : rc;
}
GOMPI_ENTRY(MPI_Comm_detach_buffer, gompi_comm_detach_buffer)

int gompi_comm_detach_buffer_c(MPI_Comm comm, void *buffer_addr, MPI_Count *size) {
	struct owner o;
	int rc;
	return is_comm(&o, "MPI_Comm_detach_buffer", comm, &rc) ? detach(&o, buffer_addr, NULL, size) : rc;
}
GOMPI_ENTRY(MPI_Comm_detach_buffer_c, gompi_comm_detach_buffer_c)

int gompi_comm_flush_buffer(MPI_Comm comm) {
	struct owner o;
	int rc;
	return is_comm(&o, "MPI_Comm_flush_buffer", comm, &rc) ? flush(&o) : rc;
}
GOMPI_ENTRY(MPI_Comm_flush_buffer, gompi_comm_flush_buffer)

int gompi_comm_iflush_buffer(MPI_Comm comm, MPI_Request *request) {
	struct owner o;
	int rc;
	return is_comm(&o, "MPI_Comm_iflush_buffer", comm, &rc) ? iflush(&o, request) : rc;
}
GOMPI_ENTRY(MPI_Comm_iflush_buffer, gompi_comm_iflush_buffer)
