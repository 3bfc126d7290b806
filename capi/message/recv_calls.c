// Receives (MPI-5.0 3.2.4, 3.7, 3.9).
#include "message/call.h"
#include "message/z_calls.h"

static __attribute__((noinline)) int recv_slow(const struct gompi_envelope *e, MPI_Status *status) {
	struct gompi_request r = {0};
	struct gompi_error_status v;
	if (gompi_call_check(&r, e, true, &v) != MPI_SUCCESS)
		return gompi_call_raise(&v, e->call, e->comm);
	if (gompi_is_proc_null(&r)) {
		gompi_status_fill(status, MPI_PROC_NULL, MPI_ANY_TAG, 0, 0);
		return MPI_SUCCESS;
	}
	r.blocking = true;
	gompi_buffer_retain(&r.buf);
	int class = gompi_receive_blocking(&r, e->call);
	gompi_buffer_release(&r.buf);
	return gompi_finish_receive(&r, class, e->call, status);
}

int gompi_recv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
		 MPI_Status *status) {
	struct gompi_request r;
	if (__builtin_expect(gompi_recv_check_fast(&r, buf, count, datatype, source, tag, comm), 1)) {
		gompi_request_clear(&r);
		r.receive = r.blocking = true;
		return gompi_finish_receive(&r, gompi_receive_blocking(&r, "MPI_Recv"), "MPI_Recv", status);
	}
	return recv_slow(&(struct gompi_envelope){"MPI_Recv", buf, count, datatype, source, tag, comm}, status);
}
GOMPI_ENTRY(MPI_Recv_c, gompi_recv_c);

static __attribute__((noinline)) int irecv_slow(const struct gompi_envelope *e, bool persistent, MPI_Request *request) {
	struct gompi_request r = {0};
	struct gompi_error_status v;
	int class = gompi_call_check(&r, e, true, &v);
	if (class == MPI_SUCCESS && request == NULL)
		class = gompi_set_error(&v, MPI_ERR_ARG, "request is NULL");
	if (class != MPI_SUCCESS)
		return gompi_call_raise(&v, e->call, e->comm);
	r.persistent = persistent;
	if (persistent)
		gompi_store(&r.state, REQUEST_INACTIVE);
	else if (gompi_is_proc_null(&r))
		gompi_receive_proc_null(&r);
	return gompi_start_request(&r, e->call, request);
}

int gompi_irecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
		  MPI_Request *request) {
	struct gompi_request s;
	if (__builtin_expect(request != NULL && gompi_recv_check_fast(&s, buf, count, datatype, source, tag, comm),
			     1)) {
		struct gompi_vci *l = s.vci;
		gompi_vci_lock(l);
		struct gompi_request *r = gompi_request_new_fast(&s);
		if (__builtin_expect(r != NULL, 1)) {
			r->receive = true;
			*request = (MPI_Request)gompi_request_handle(r);
			gompi_irecv_locked(l, r);
			gompi_vci_unlock_started(l);
			gompi_call_run_plans(l->messages);
			return MPI_SUCCESS;
		}
		gompi_vci_unlock(l); // irecv_slow reports the error
	}
	return irecv_slow(&(struct gompi_envelope){"MPI_Irecv", buf, count, datatype, source, tag, comm}, false,
			  request);
}
GOMPI_ENTRY(MPI_Irecv_c, gompi_irecv_c);

int gompi_recv_init_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
		      MPI_Request *request) {
	if (gompi_init_fast(buf, count, datatype, source, tag, comm, true, MODE_STANDARD, request))
		return MPI_SUCCESS;
	return irecv_slow(&(struct gompi_envelope){"MPI_Recv_init", buf, count, datatype, source, tag, comm}, true,
			  request);
}
GOMPI_ENTRY(MPI_Recv_init_c, gompi_recv_init_c);
