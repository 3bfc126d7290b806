/* Decides which valid calls must not be made ("held") because they would block forever, as the standard allows. A call
 * with an argument that is certainly wrong is always made, because it must return an error. */
#include "fuzz.h"

static int64_t number_of(const struct call *c, const char *name) {
	int i = find_param(c, name);
	return i < 0 ? 0 : c->arg[i].value.number;
}

static void *pointer_of(const struct call *c, const char *name) {
	int i = find_param(c, name);
	return i < 0 ? NULL : c->arg[i].value.pointer;
}

/* Returns the number of bytes that the call sends, or 1 MiB if unknown. */
static int64_t bytes_of(const struct call *c) {
	int type = find_param(c, "datatype"), size = 0;
	int64_t count = number_of(c, "count");
	if (type < 0 || c->arg[type].truth != RIGHT)
		return 1 << 20;
	ignore_errors(1);
	MPI_Type_size(c->arg[type].value.pointer, &size);
	ignore_errors(0);
	return count * size;
}

static int has_come(const struct call *c) {
	int flag = 0;
	ignore_errors(1);
	MPI_Iprobe((int)number_of(c, "source"), (int)number_of(c, "tag"), pointer_of(c, "comm"), &flag,
		   MPI_STATUS_IGNORE);
	ignore_errors(0);
	return flag;
}

const char *held(struct call *c) {
	if (c->f->flags & MISSING || !running)
		return NULL;
	if (c->state_hold)
		return c->state_hold;
	if (is_called(c, "Send|Bsend|Ssend|Rsend") && number_of(c, "dest") != MPI_PROC_NULL &&
	    (is_called(c, "Ssend|Rsend") || bytes_of(c) > 64))
		return "nobody receives, so only what MPI buffers may be sent";
	if (is_called(c, "Recv|Probe|Mprobe") && number_of(c, "source") != MPI_PROC_NULL && !has_come(c))
		return "there is no message";
	if (is_called(c, "Sendrecv|Sendrecv_replace"))
		for (int i = 0; i < c->f->n; i++)
			if (c->arg[i].truth != RIGHT)
				return "the two parts may not fit together";
	if (is_called(c, "Wait*") && !may_wait(c))
		return "a request is not complete";
	if (is_called(c, "Comm_free") && !quiet)
		return "messages are on their way, and nobody could receive them any more";
	if (is_called(c, "Comm_disconnect|*_detach_buffer|Buffer_detach|*_flush_buffer|Buffer_flush|Buffer_attach|*_"
			 "attach_buffer") &&
	    !quiet)
		return "messages are on their way, and it waits for them";
	if (is_called(c, "Intercomm_create"))
		return "the two sides would have to pass different arguments";
	if (is_called(c, "Comm_create|Comm_create_group") && c->comm && c->comm->size > 1 &&
	    c->group != &pool[T_GROUP][1])
		return "the processes may have different groups, of which only the members may call it";
	if (is_called(c, "*scan*|*educe*|*gather*|*catter*|Bcast*|Ibcast|*lltoall*|*eighbor*|*arrier*|Comm_*|*_create*|"
			 "Win_*|Cart_sub|Intercomm_merge"))
		for (int i = 0; i < c->f->n; i++)
			if (c->arg[i].truth == OPEN && thing_of(c, i) == T_COMM)
				return "the processes of the communicator are not known";
	return NULL;
}
