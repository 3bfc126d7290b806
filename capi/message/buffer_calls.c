// Attaching, detaching and flushing buffers (MPI-5.0 3.6).
#include <stdlib.h>

#include "message/call.h"
#include "message/z_calls.h"
#include "session/session.h"

// The object whose buffer a call uses: a communicator (GOMPI_ON_COMM), a session (GOMPI_ON_SESSION), or the process
// (GOMPI_ON_NONE).
struct buffer_object {
	int kind;
	uintptr_t handle; // 0 for the process
};

// The buffer that a call uses. Errors are raised on the object.
struct buffer_owner {
	const char *call;
	struct buffer_object object;
	struct gompi_messages *messages; // NULL if the process has not opened its part of the job
	// where the object stores its buffer; NULL for the process, and if there is no object
	struct gompi_bsend_buffer *_Atomic *field;
	struct gompi_bsend_buffer *buffer; // NULL if the object is invalid or never had a buffer
	uint64_t context;                  // the request of a flush belongs to the VCI of this context
};

static inline struct gompi_bsend_buffer *process_buffer(void) {
	struct gompi_messages *m = gompi_load(&gompi_app_messages);
	return m != NULL ? &m->bsend_buffer : NULL;
}

static inline struct gompi_bsend_buffer *comm_buffer(struct gompi_comm *c) {
	// acquire: pairs with the compare-and-swap in create_buffer
	return c != NULL ? gompi_load_acquire(&c->bsend_buffer) : NULL;
}

static inline struct gompi_bsend_buffer *session_buffer(struct gompi_session *s) {
	// acquire: pairs with the compare-and-swap in create_buffer
	return s != NULL ? gompi_load_acquire(&s->bsend_buffer) : NULL;
}

static inline struct buffer_object of_process(void) { return (struct buffer_object){GOMPI_ON_NONE, 0}; }
static inline struct buffer_object of_comm(MPI_Comm comm) {
	return (struct buffer_object){GOMPI_ON_COMM, (uintptr_t)comm};
}
static inline struct buffer_object of_session(MPI_Session session) {
	return (struct buffer_object){GOMPI_ON_SESSION, (uintptr_t)session};
}

static struct buffer_owner buffer_owner_of(const char *call, struct buffer_object object) {
	struct buffer_owner o = {.call = call, .object = object, .messages = gompi_load(&gompi_app_messages)};
	if (object.kind == GOMPI_ON_NONE) {
		o.buffer = process_buffer();
		return o;
	}
	struct gompi_comm *c = object.kind == GOMPI_ON_COMM ? gompi_comm_get((MPI_Comm)object.handle) : NULL;
	struct gompi_session *s =
		object.kind == GOMPI_ON_SESSION ? gompi_session_get((MPI_Session)object.handle) : NULL;
	o.field = c != NULL ? &c->bsend_buffer : s != NULL ? &s->bsend_buffer : NULL;
	o.buffer = c != NULL ? comm_buffer(c) : session_buffer(s);
	o.context = c != NULL ? c->id : 0;
	return o;
}

static int raise_on_owner(const struct buffer_owner *o, const struct gompi_error_status *v) {
	return gompi_return_error(v->class, o->call, v->text, o->object.kind, o->object.handle);
}

// Returns true if the object is invalid or MPI is not running. The function has then raised the error, and *rc is the
// result of the MPI function.
static bool is_invalid_owner(const struct buffer_owner *o, int *rc) {
	if (o->field != NULL || (o->messages != NULL && o->buffer != NULL))
		return false;
	*rc = o->object.kind == GOMPI_ON_SESSION ? gompi_raise_invalid_session((MPI_Session)o->object.handle, o->call)
						 : gompi_raise_invalid_comm((MPI_Comm)o->object.handle, o->call);
	return true;
}

static const int64_t automatic_size = 1LL << 62; // size of MPI_BUFFER_AUTOMATIC: larger than all messages together

// Creates the buffer descriptor of a communicator or session, at the first attach. If another thread creates the
// descriptor at the same time, returns that one. Returns NULL if out of memory.
static struct gompi_bsend_buffer *create_buffer(struct gompi_bsend_buffer *_Atomic *field) {
	struct gompi_bsend_buffer *a = calloc(1, sizeof *a), *other = NULL;
	if (a == NULL || gompi_cas_strong(field, &other, a))
		return a;
	free(a);
	return other;
}

// Handles all cases that attach_fast does not: the first buffer of an object, MPI_BUFFER_AUTOMATIC, or an error.
static __attribute__((noinline)) int attach_slow(const char *call, struct buffer_object object, void *addr,
						 int64_t size) {
	struct buffer_owner o = buffer_owner_of(call, object);
	struct gompi_error_status v;
	int rc;
	if (is_invalid_owner(&o, &rc))
		return rc;
	if (addr == MPI_BUFFER_AUTOMATIC)
		size = automatic_size;
	if (size < 0)
		gompi_set_error(&v, MPI_ERR_ARG, "the buffer size is %lld; it must not be negative", (long long)size);
	else if (addr == NULL && size > 0)
		gompi_set_error(&v, MPI_ERR_ARG, "the buffer of %lld bytes is NULL", (long long)size);
	else if (o.buffer == NULL && (o.buffer = create_buffer(o.field)) == NULL)
		gompi_set_error(&v, MPI_ERR_NO_MEM, "out of memory for a buffer of %lld bytes", (long long)size);
	else if (!gompi_bsend_attach(o.buffer, addr, size))
		gompi_set_error(&v, MPI_ERR_BUFFER,
				"a buffer of %lld bytes is already attached: call MPI_Buffer_detach first",
				(long long)o.buffer->size);
	else
		return MPI_SUCCESS;
	return raise_on_owner(&o, &v);
}

// Attaches a buffer in the most common case. Returns false if attach_slow is needed.
static inline bool attach_fast(struct gompi_bsend_buffer *a, void *addr, int64_t size) {
	return __builtin_expect(a != NULL && (uintptr_t)addr > (uintptr_t)MPI_BUFFER_AUTOMATIC && size >= 0 &&
					gompi_bsend_attach(a, addr, size),
				1);
}

// Stores the size of a buffer in *count or, if count is NULL, in *size.
static inline void store_size(int64_t n, int *size, MPI_Count *count) {
	if (count != NULL)
		*count = n;
	else
		*size = n > INT32_MAX ? MPI_UNDEFINED : (int)n;
}

// Handles all cases that detach_fast does not: no buffer, messages in the buffer, or an error.
static __attribute__((noinline)) int detach_slow(const char *call, struct buffer_object object, void *buffer_addr,
						 int *size, MPI_Count *large) {
	struct buffer_owner o = buffer_owner_of(call, object);
	struct gompi_error_status v;
	void *addr = NULL;
	int64_t n = 0;
	int rc, class = MPI_SUCCESS;
	if (is_invalid_owner(&o, &rc))
		return rc;
	if (buffer_addr == NULL || (size == NULL && large == NULL))
		class = gompi_set_error(&v, MPI_ERR_ARG, "buffer_addr or size is NULL");
	else if (o.buffer != NULL)
		class = gompi_bsend_detach(o.messages, o.buffer, o.call, &addr, &n, &v);
	if (class != MPI_SUCCESS)
		return raise_on_owner(&o, &v);
	*(void **)buffer_addr = addr;
	store_size(n, size, large);
	return MPI_SUCCESS;
}

// Detaches a buffer without messages. Returns false if detach_slow is needed.
static inline __attribute__((always_inline)) bool detach_fast(struct gompi_bsend_buffer *a, void *buffer_addr,
							      int *size, MPI_Count *large) {
	void *addr;
	int64_t n;
	if (__builtin_expect(a == NULL || buffer_addr == NULL || (size == NULL && large == NULL), 0) ||
	    !gompi_bsend_try_detach(a, &addr, &n))
		return false;
	*(void **)buffer_addr = addr;
	store_size(n, size, large);
	return true;
}

static inline bool is_empty(struct gompi_bsend_buffer *a) {
	return a != NULL && gompi_load_acquire(&a->oldest_seq) == 0; // pairs with the release in gompi_bsend_release
}

static __attribute__((noinline)) int buffer_flush_slow(const char *call, struct buffer_object object) {
	struct buffer_owner o = buffer_owner_of(call, object);
	struct gompi_error_status v;
	int rc;
	if (is_invalid_owner(&o, &rc))
		return rc;
	return o.buffer == NULL || gompi_bsend_flush(o.messages, o.buffer, o.call, &v) == MPI_SUCCESS
		       ? MPI_SUCCESS
		       : raise_on_owner(&o, &v);
}

static __attribute__((noinline)) int buffer_iflush_slow(const char *call, struct buffer_object object,
							MPI_Request *request) {
	struct buffer_owner o = buffer_owner_of(call, object);
	struct gompi_error_status v;
	int rc;
	if (is_invalid_owner(&o, &rc))
		return rc;
	MPI_Request r = MPI_REQUEST_NULL;
	if (request == NULL)
		gompi_set_error(&v, MPI_ERR_ARG, "request is NULL");
	else if (o.buffer == NULL)
		r = GOMPI_REQUEST_DONE;
	else if ((r = gompi_bsend_iflush(o.messages, o.buffer, o.context)) == MPI_REQUEST_NULL)
		gompi_set_error(&v, MPI_ERR_NO_MEM, "out of memory for a request, or too many requests are active");
	if (r == MPI_REQUEST_NULL)
		return raise_on_owner(&o, &v);
	*request = r;
	return MPI_SUCCESS;
}

int gompi_buffer_attach_c(void *buffer, MPI_Count size) {
	return attach_fast(process_buffer(), buffer, size)
		       ? MPI_SUCCESS
		       : attach_slow("MPI_Buffer_attach", of_process(), buffer, size);
}
GOMPI_ENTRY(MPI_Buffer_attach_c, gompi_buffer_attach_c);

int gompi_buffer_detach(void *buffer_addr, int *size) {
	return detach_fast(process_buffer(), buffer_addr, size, NULL)
		       ? MPI_SUCCESS
		       : detach_slow("MPI_Buffer_detach", of_process(), buffer_addr, size, NULL);
}
GOMPI_ENTRY(MPI_Buffer_detach, gompi_buffer_detach);

int gompi_buffer_detach_c(void *buffer_addr, MPI_Count *size) {
	return detach_fast(process_buffer(), buffer_addr, NULL, size)
		       ? MPI_SUCCESS
		       : detach_slow("MPI_Buffer_detach", of_process(), buffer_addr, NULL, size);
}
GOMPI_ENTRY(MPI_Buffer_detach_c, gompi_buffer_detach_c);

int gompi_buffer_flush(void) {
	return is_empty(process_buffer()) ? MPI_SUCCESS : buffer_flush_slow("MPI_Buffer_flush", of_process());
}
GOMPI_ENTRY(MPI_Buffer_flush, gompi_buffer_flush);

int gompi_buffer_iflush(MPI_Request *request) {
	if (request == NULL || !is_empty(process_buffer()))
		return buffer_iflush_slow("MPI_Buffer_iflush", of_process(), request);
	*request = GOMPI_REQUEST_DONE;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Buffer_iflush, gompi_buffer_iflush);

int gompi_comm_attach_buffer_c(MPI_Comm comm, void *buffer, MPI_Count size) {
	return attach_fast(comm_buffer(gompi_comm_get(comm)), buffer, size)
		       ? MPI_SUCCESS
		       : attach_slow("MPI_Comm_attach_buffer", of_comm(comm), buffer, size);
}
GOMPI_ENTRY(MPI_Comm_attach_buffer_c, gompi_comm_attach_buffer_c);

int gompi_comm_detach_buffer(MPI_Comm comm, void *buffer_addr, int *size) {
	return detach_fast(comm_buffer(gompi_comm_get(comm)), buffer_addr, size, NULL)
		       ? MPI_SUCCESS
		       : detach_slow("MPI_Comm_detach_buffer", of_comm(comm), buffer_addr, size, NULL);
}
GOMPI_ENTRY(MPI_Comm_detach_buffer, gompi_comm_detach_buffer);

int gompi_comm_detach_buffer_c(MPI_Comm comm, void *buffer_addr, MPI_Count *size) {
	return detach_fast(comm_buffer(gompi_comm_get(comm)), buffer_addr, NULL, size)
		       ? MPI_SUCCESS
		       : detach_slow("MPI_Comm_detach_buffer", of_comm(comm), buffer_addr, NULL, size);
}
GOMPI_ENTRY(MPI_Comm_detach_buffer_c, gompi_comm_detach_buffer_c);

int gompi_comm_flush_buffer(MPI_Comm comm) {
	return is_empty(comm_buffer(gompi_comm_get(comm))) ? MPI_SUCCESS
							   : buffer_flush_slow("MPI_Comm_flush_buffer", of_comm(comm));
}
GOMPI_ENTRY(MPI_Comm_flush_buffer, gompi_comm_flush_buffer);

int gompi_comm_iflush_buffer(MPI_Comm comm, MPI_Request *request) {
	if (request == NULL || !is_empty(comm_buffer(gompi_comm_get(comm))))
		return buffer_iflush_slow("MPI_Comm_iflush_buffer", of_comm(comm), request);
	*request = GOMPI_REQUEST_DONE;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Comm_iflush_buffer, gompi_comm_iflush_buffer);

int gompi_session_attach_buffer_c(MPI_Session session, void *buffer, MPI_Count size) {
	return attach_fast(session_buffer(gompi_session_get(session)), buffer, size)
		       ? MPI_SUCCESS
		       : attach_slow("MPI_Session_attach_buffer", of_session(session), buffer, size);
}
GOMPI_ENTRY(MPI_Session_attach_buffer_c, gompi_session_attach_buffer_c);

int gompi_session_detach_buffer(MPI_Session session, void *buffer_addr, int *size) {
	return detach_fast(session_buffer(gompi_session_get(session)), buffer_addr, size, NULL)
		       ? MPI_SUCCESS
		       : detach_slow("MPI_Session_detach_buffer", of_session(session), buffer_addr, size, NULL);
}
GOMPI_ENTRY(MPI_Session_detach_buffer, gompi_session_detach_buffer);

int gompi_session_detach_buffer_c(MPI_Session session, void *buffer_addr, MPI_Count *size) {
	return detach_fast(session_buffer(gompi_session_get(session)), buffer_addr, NULL, size)
		       ? MPI_SUCCESS
		       : detach_slow("MPI_Session_detach_buffer", of_session(session), buffer_addr, NULL, size);
}
GOMPI_ENTRY(MPI_Session_detach_buffer_c, gompi_session_detach_buffer_c);

int gompi_session_flush_buffer(MPI_Session session) {
	return is_empty(session_buffer(gompi_session_get(session)))
		       ? MPI_SUCCESS
		       : buffer_flush_slow("MPI_Session_flush_buffer", of_session(session));
}
GOMPI_ENTRY(MPI_Session_flush_buffer, gompi_session_flush_buffer);

int gompi_session_iflush_buffer(MPI_Session session, MPI_Request *request) {
	if (request == NULL || !is_empty(session_buffer(gompi_session_get(session))))
		return buffer_iflush_slow("MPI_Session_iflush_buffer", of_session(session), request);
	*request = GOMPI_REQUEST_DONE;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Session_iflush_buffer, gompi_session_iflush_buffer);
