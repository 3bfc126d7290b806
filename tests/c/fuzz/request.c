/* Completes the requests and messages that calls start, so that a job of many calls does not exhaust its resources. */
#include "fuzz.h"

enum { MOST_LINGERING = 512 };

int quiet = 1;

static struct {
	MPI_Request request;
	int persistent, general, tries;
} lingering[MOST_LINGERING];
static int lingerings;

/* Adds a request to the list of requests that linger_on completes. The pool no longer uses the request. */
void linger(const struct object *o) {
	if (lingerings == MOST_LINGERING)
		return;
	lingering[lingerings].request = o->value.pointer;
	lingering[lingerings].persistent = o->persistent;
	lingering[lingerings].general = o->general;
	lingering[lingerings].tries = 0;
	lingerings++;
}

/* Cancels the listed requests, or completes them if that is possible without blocking. */
void linger_on(void) {
	record_upkeep("ending requests");
	ignore_errors(1);
	for (int i = 0; i < lingerings; i++) {
		int done = 0;
		if (lingering[i].general && lingering[i].tries == 0)
			MPI_Grequest_complete(lingering[i].request);
		else if (!lingering[i].persistent && lingering[i].tries == 0)
			MPI_Cancel(&lingering[i].request);
		MPI_Request_get_status(lingering[i].request, &done, MPI_STATUS_IGNORE);
		if (done) {
			if (lingering[i].persistent)
				MPI_Request_free(&lingering[i].request);
			else
				MPI_Wait(&lingering[i].request, MPI_STATUS_IGNORE);
		}
		if (done || ++lingering[i].tries > 200)
			lingering[i--] = lingering[--lingerings];
	}
	ignore_errors(0);
}

static int receive_all(MPI_Comm comm) {
	static char buffer[1 << 16];
	int found = 0, flag = 1;
	for (int n = 0; flag && n < 1000; n++) {
		MPI_Message message;
		flag = 0;
		if (MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &message, MPI_STATUS_IGNORE) != MPI_SUCCESS)
			return found;
		if (flag) {
			MPI_Mrecv(buffer, sizeof buffer, MPI_BYTE, &message, MPI_STATUS_IGNORE);
			found++;
		}
	}
	return found;
}

/* Receives messages on all communicators until no rank finds another one. Collective. */
void drain(void) {
	int silent = 0;
	for (int round = 0; round < 30 && silent < 2; round++) {
		int found = 0;
		linger_on();
		record_upkeep("receiving what is left");
		ignore_errors(1);
		for (int s = 0; s < SLOTS; s++)
			if (pool[T_COMM][s].agreed)
				found += receive_all(pool[T_COMM][s].value.pointer);
		ignore_errors(0);
		silent = none(found) ? silent + 1 : 0;
	}
	quiet = silent >= 2;
}

/* Returns true if the MPI_Wait, MPI_Waitall, MPI_Waitany or MPI_Waitsome call will not block. */
int may_wait(const struct call *c) {
	int all = is_called(c, "Wait|Waitall"), complete = 0, active = 0, n = 0;
	for (int i = 0; i < c->f->n; i++) {
		if (c->f->params[i].kind != K_REQUEST)
			continue;
		if (c->arg[i].truth != RIGHT)
			return 0;
		for (int64_t k = 0; k < c->arg[i].n && c->arg[i].cell; k++) {
			int done = 0;
			MPI_Request r = ((MPI_Request *)c->arg[i].cell)[k];
			MPI_Status status;
			n++;
			if (r == MPI_REQUEST_NULL)
				continue;
			active++;
			ignore_errors(1);
			MPI_Request_get_status(r, &done, &status);
			ignore_errors(0);
			complete += done;
		}
	}
	return all ? complete == active : active == 0 || complete == active;
}
