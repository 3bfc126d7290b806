/* Completion of requests (MPI-5.0 3.7). Fortran counts indices from 1. When a request is complete, these functions copy
 * the results that request_data.c holds for it to the program, and free its entry. */
#include "gompi_f.h"

static inline void completed(integer request) {
	if (gompi_kept_count)
		gompi_kept_completed(request);
}

static inline integer index_out(int index) { return index == MPI_UNDEFINED ? index : index + 1; }

ENTRY void NAME(wait)(integer *request, f_status *status, integer *ierror) {
	MPI_Request c_request = request_in(*request);
	MPI_Status c_status;
	int rc = CALL(Wait)(&c_request, status_to(status, &c_status));
	status_out(status, &c_status);
	completed(*request);
	*request = request_out(c_request);
	done(ierror, rc);
}
SAME(wait, wait_f08)

ENTRY void NAME(test)(integer *request, logical *flag, f_status *status, integer *ierror) {
	MPI_Request c_request = request_in(*request);
	MPI_Status c_status;
	int c_flag = 0, rc = CALL(Test)(&c_request, &c_flag, status_to(status, &c_status));
	status_out(status, &c_status);
	if (c_flag)
		completed(*request);
	*request = request_out(c_request);
	*flag = logical_out(c_flag);
	done(ierror, rc);
}
SAME(test, test_f08)

ENTRY void NAME(request_get_status)(const integer *request, logical *flag, f_status *status, integer *ierror) {
	MPI_Status c_status;
	int c_flag = 0, rc = CALL(Request_get_status)(request_in(*request), &c_flag, status_to(status, &c_status));
	status_out(status, &c_status);
	if (c_flag)
		completed(*request);
	*flag = logical_out(c_flag);
	done(ierror, rc);
}
SAME(request_get_status, request_get_status_f08)

/* ---- Arrays of requests ---- */

static int statuses_in(struct gompi_array *a, MPI_Count n, const f_status *statuses) {
	int rc = gompi_array_make(a, n, sizeof(MPI_Status));
	for (MPI_Count i = 0; !rc && i < n; i++)
		status_to(&statuses[i], (MPI_Status *)a->data + i);
	return rc;
}

/* Prepares the C arrays of a call with n requests. If the program's array of statuses or indices has C's form already,
 * c_statuses or c_indices refers to it. The argument `statuses` or `indices` is NULL if the call has no such array.
 * Raises an error and returns its code if n does not fit into an int or memory runs out. */
static inline int open_many(struct gompi_array *c_requests, struct gompi_array *c_statuses,
			    struct gompi_array *c_indices, const char *function, integer n, const integer *requests,
			    f_status *statuses, integer *indices) {
	int rc = fits(function, "count", n, MPI_ERR_COUNT);
	if (!rc)
		rc = requests_in(c_requests, n, requests);
	if (!EIGHT || status_ignored(statuses))
		c_statuses->data = status_to(statuses, NULL);
	else if (!rc && statuses)
		rc = statuses_in(c_statuses, n, statuses);
	if (!rc)
		rc = ints_room(c_indices, indices ? n : 0, indices);
	if (rc)
		rc = gompi_raise_pending(RAISE_SELF, 0, rc);
	return rc;
}

/* Copies the statuses to the program and frees the arrays. */
static inline void close_many(struct gompi_array *c_requests, struct gompi_array *c_statuses,
			      struct gompi_array *c_indices, integer n, f_status *statuses) {
	for (integer i = 0; EIGHT && statuses && !status_ignored(statuses) && i < n; i++)
		status_out(&statuses[i], (MPI_Status *)c_statuses->data + i);
	gompi_array_free(c_requests);
	ints_free(c_statuses);
	ints_free(c_indices);
}

/* Notifies request_data.c of completed requests. They are the requests at the positions `indices` or, if `indices` is
 * NULL, the first ones. Then stores all n handles, which are in `now`, for the program. MPI_Request_get_status releases
 * no requests, and passes NULL as `now`. */
static void some(int n, integer *requests, const MPI_Request *now, int completions, const int *indices) {
	for (int i = 0; i < completions; i++)
		completed(requests[indices ? indices[i] : i]);
	for (int i = 0; now && i < n; i++)
		requests[i] = request_out(now[i]);
}

/* Stores the indices of completed requests for the program, counted from 1. */
static inline void indices_out(integer *to, int completions, const int *indices) {
	for (int i = 0; i < completions; i++)
		to[i] = indices[i] + 1;
}

ENTRY void NAME(waitall)(const integer *count, integer *array_of_requests, f_status *array_of_statuses,
			 integer *ierror) {
	struct gompi_array requests = {0}, statuses = {0}, indices = {0};
	int rc = open_many(&requests, &statuses, &indices, "MPI_Waitall", *count, array_of_requests, array_of_statuses,
			   NULL);
	if (rc) {
		close_many(&requests, &statuses, &indices, 0, NULL);
		done(ierror, rc);
		return;
	}
	rc = CALL(Waitall)((int)*count, requests.data, statuses.data);
	some((int)*count, array_of_requests, requests.data, (int)*count, NULL);
	close_many(&requests, &statuses, &indices, *count, array_of_statuses);
	done(ierror, rc);
}
SAME(waitall, waitall_f08)

ENTRY void NAME(testall)(const integer *count, integer *array_of_requests, logical *flag, f_status *array_of_statuses,
			 integer *ierror) {
	struct gompi_array requests = {0}, statuses = {0}, indices = {0};
	int c_flag = 0, rc = open_many(&requests, &statuses, &indices, "MPI_Testall", *count, array_of_requests,
				       array_of_statuses, NULL);
	if (rc) {
		close_many(&requests, &statuses, &indices, 0, NULL);
		done(ierror, rc);
		return;
	}
	rc = CALL(Testall)((int)*count, requests.data, &c_flag, statuses.data);
	some((int)*count, array_of_requests, requests.data, c_flag ? (int)*count : 0, NULL);
	*flag = logical_out(c_flag);
	close_many(&requests, &statuses, &indices, *count, array_of_statuses);
	done(ierror, rc);
}
SAME(testall, testall_f08)

ENTRY void NAME(waitany)(const integer *count, integer *array_of_requests, integer *index, f_status *status,
			 integer *ierror) {
	struct gompi_array requests = {0}, statuses = {0}, indices = {0};
	MPI_Status c_status;
	int c_index = MPI_UNDEFINED,
	    rc = open_many(&requests, &statuses, &indices, "MPI_Waitany", *count, array_of_requests, NULL, NULL);
	if (rc) {
		close_many(&requests, &statuses, &indices, 0, NULL);
		done(ierror, rc);
		return;
	}
	rc = CALL(Waitany)((int)*count, requests.data, &c_index, status_to(status, &c_status));
	status_out(status, &c_status);
	some((int)*count, array_of_requests, requests.data, c_index != MPI_UNDEFINED, &c_index);
	*index = index_out(c_index);
	close_many(&requests, &statuses, &indices, *count, NULL);
	done(ierror, rc);
}
SAME(waitany, waitany_f08)

ENTRY void NAME(testany)(const integer *count, integer *array_of_requests, integer *index, logical *flag,
			 f_status *status, integer *ierror) {
	struct gompi_array requests = {0}, statuses = {0}, indices = {0};
	MPI_Status c_status;
	int c_index = MPI_UNDEFINED, c_flag = 0,
	    rc = open_many(&requests, &statuses, &indices, "MPI_Testany", *count, array_of_requests, NULL, NULL);
	if (rc) {
		close_many(&requests, &statuses, &indices, 0, NULL);
		done(ierror, rc);
		return;
	}
	rc = CALL(Testany)((int)*count, requests.data, &c_index, &c_flag, status_to(status, &c_status));
	status_out(status, &c_status);
	some((int)*count, array_of_requests, requests.data, c_flag && c_index != MPI_UNDEFINED, &c_index);
	*index = index_out(c_index);
	*flag = logical_out(c_flag);
	close_many(&requests, &statuses, &indices, *count, NULL);
	done(ierror, rc);
}
SAME(testany, testany_f08)

ENTRY void NAME(waitsome)(const integer *incount, integer *array_of_requests, integer *outcount,
			  integer *array_of_indices, f_status *array_of_statuses, integer *ierror) {
	struct gompi_array requests = {0}, statuses = {0}, indices = {0};
	int n = MPI_UNDEFINED, rc = open_many(&requests, &statuses, &indices, "MPI_Waitsome", *incount,
					      array_of_requests, array_of_statuses, array_of_indices);
	if (rc) {
		close_many(&requests, &statuses, &indices, 0, NULL);
		done(ierror, rc);
		return;
	}
	rc = CALL(Waitsome)((int)*incount, requests.data, &n, indices.data, statuses.data);
	some((int)*incount, array_of_requests, requests.data, n, indices.data);
	indices_out(array_of_indices, n, indices.data);
	*outcount = n;
	close_many(&requests, &statuses, &indices, *incount, array_of_statuses);
	done(ierror, rc);
}
SAME(waitsome, waitsome_f08)

ENTRY void NAME(testsome)(const integer *incount, integer *array_of_requests, integer *outcount,
			  integer *array_of_indices, f_status *array_of_statuses, integer *ierror) {
	struct gompi_array requests = {0}, statuses = {0}, indices = {0};
	int n = MPI_UNDEFINED, rc = open_many(&requests, &statuses, &indices, "MPI_Testsome", *incount,
					      array_of_requests, array_of_statuses, array_of_indices);
	if (rc) {
		close_many(&requests, &statuses, &indices, 0, NULL);
		done(ierror, rc);
		return;
	}
	rc = CALL(Testsome)((int)*incount, requests.data, &n, indices.data, statuses.data);
	some((int)*incount, array_of_requests, requests.data, n, indices.data);
	indices_out(array_of_indices, n, indices.data);
	*outcount = n;
	close_many(&requests, &statuses, &indices, *incount, array_of_statuses);
	done(ierror, rc);
}
SAME(testsome, testsome_f08)

/* ---- Functions that test requests without releasing them ---- */

ENTRY void NAME(request_get_status_all)(const integer *count, const integer *array_of_requests, logical *flag,
					f_status *array_of_statuses, integer *ierror) {
	struct gompi_array requests = {0}, statuses = {0}, indices = {0};
	int c_flag = 0, rc = open_many(&requests, &statuses, &indices, "MPI_Request_get_status_all", *count,
				       array_of_requests, array_of_statuses, NULL);
	if (rc) {
		close_many(&requests, &statuses, &indices, 0, NULL);
		done(ierror, rc);
		return;
	}
	rc = CALL(Request_get_status_all)((int)*count, requests.data, &c_flag, statuses.data);
	some((int)*count, (integer *)array_of_requests, NULL, c_flag ? (int)*count : 0, NULL);
	*flag = logical_out(c_flag);
	close_many(&requests, &statuses, &indices, *count, array_of_statuses);
	done(ierror, rc);
}
SAME(request_get_status_all, request_get_status_all_f08)

ENTRY void NAME(request_get_status_any)(const integer *count, const integer *array_of_requests, integer *index,
					logical *flag, f_status *status, integer *ierror) {
	struct gompi_array requests = {0}, statuses = {0}, indices = {0};
	MPI_Status c_status;
	int c_index = MPI_UNDEFINED, c_flag = 0,
	    rc = open_many(&requests, &statuses, &indices, "MPI_Request_get_status_any", *count, array_of_requests,
			   NULL, NULL);
	if (rc) {
		close_many(&requests, &statuses, &indices, 0, NULL);
		done(ierror, rc);
		return;
	}
	rc = CALL(Request_get_status_any)((int)*count, requests.data, &c_index, &c_flag, status_to(status, &c_status));
	status_out(status, &c_status);
	some((int)*count, (integer *)array_of_requests, NULL, c_flag && c_index != MPI_UNDEFINED, &c_index);
	*index = index_out(c_index);
	*flag = logical_out(c_flag);
	close_many(&requests, &statuses, &indices, *count, NULL);
	done(ierror, rc);
}
SAME(request_get_status_any, request_get_status_any_f08)

ENTRY void NAME(request_get_status_some)(const integer *incount, const integer *array_of_requests, integer *outcount,
					 integer *array_of_indices, f_status *array_of_statuses, integer *ierror) {
	struct gompi_array requests = {0}, statuses = {0}, indices = {0};
	int n = MPI_UNDEFINED, rc = open_many(&requests, &statuses, &indices, "MPI_Request_get_status_some", *incount,
					      array_of_requests, array_of_statuses, array_of_indices);
	if (rc) {
		close_many(&requests, &statuses, &indices, 0, NULL);
		done(ierror, rc);
		return;
	}
	rc = CALL(Request_get_status_some)((int)*incount, requests.data, &n, indices.data, statuses.data);
	some((int)*incount, (integer *)array_of_requests, NULL, n, indices.data);
	indices_out(array_of_indices, n, indices.data);
	*outcount = n;
	close_many(&requests, &statuses, &indices, *incount, array_of_statuses);
	done(ierror, rc);
}
SAME(request_get_status_some, request_get_status_some_f08)

/* ---- Persistent requests ---- */

ENTRY void NAME(start)(integer *request, integer *ierror) {
	MPI_Request c_request = request_in(*request);
	int rc;
	if (gompi_kept_count)
		gompi_kept_started(*request);
	rc = CALL(Start)(&c_request);
	*request = request_out(c_request);
	done(ierror, rc);
}
SAME(start, start_f08)

ENTRY void NAME(startall)(const integer *count, integer *array_of_requests, integer *ierror) {
	struct gompi_array requests = {0}, statuses = {0}, indices = {0};
	int rc = open_many(&requests, &statuses, &indices, "MPI_Startall", *count, array_of_requests, NULL, NULL);
	if (rc) {
		close_many(&requests, &statuses, &indices, 0, NULL);
		done(ierror, rc);
		return;
	}
	if (gompi_kept_count)
		for (integer i = 0; i < *count; i++)
			gompi_kept_started(array_of_requests[i]);
	rc = CALL(Startall)((int)*count, requests.data);
	some((int)*count, array_of_requests, requests.data, 0, NULL);
	close_many(&requests, &statuses, &indices, *count, NULL);
	done(ierror, rc);
}
SAME(startall, startall_f08)

ENTRY void NAME(request_free)(integer *request, integer *ierror) {
	MPI_Request c_request = request_in(*request);
	int rc = CALL(Request_free)(&c_request);
	if (!rc && gompi_kept_count)
		gompi_kept_freed(*request);
	*request = request_out(c_request);
	done(ierror, rc);
}
SAME(request_free, request_free_f08)

/* ---- Nonblocking duplication. The C function writes the new MPI_Comm at some time before the request completes. At
 * completion, request_data.c converts it to Fortran's handle. ---- */

ENTRY void NAME(comm_idup)(const integer *comm, integer *newcomm, integer *request, integer *ierror) {
	struct gompi_kept k = {.newcomm = malloc(sizeof(MPI_Comm)), .newcomm_to = newcomm};
	MPI_Request c_request = MPI_REQUEST_NULL;
	int rc;
	if (!k.newcomm) {
		done(ierror, gompi_raise_pending(RAISE_COMM, *comm, MPI_ERR_NO_MEM));
		return;
	}
	*k.newcomm = MPI_COMM_NULL;
	rc = CALL(Comm_idup)(comm_in(*comm), k.newcomm, &c_request);
	if (!rc) {
		*request = request_out(c_request);
		*newcomm = comm_out(*k.newcomm);
	}
	gompi_keep(&k, rc ? NULL : request, false);
	done(ierror, rc);
}
SAME(comm_idup, comm_idup_f08)

ENTRY void NAME(comm_idup_with_info)(const integer *comm, const integer *info, integer *newcomm, integer *request,
				     integer *ierror) {
	struct gompi_kept k = {.newcomm = malloc(sizeof(MPI_Comm)), .newcomm_to = newcomm};
	MPI_Request c_request = MPI_REQUEST_NULL;
	int rc;
	if (!k.newcomm) {
		done(ierror, gompi_raise_pending(RAISE_COMM, *comm, MPI_ERR_NO_MEM));
		return;
	}
	*k.newcomm = MPI_COMM_NULL;
	rc = CALL(Comm_idup_with_info)(comm_in(*comm), info_in(*info), k.newcomm, &c_request);
	if (!rc) {
		*request = request_out(c_request);
		*newcomm = comm_out(*k.newcomm);
	}
	gompi_keep(&k, rc ? NULL : request, false);
	done(ierror, rc);
}
SAME(comm_idup_with_info, comm_idup_with_info_f08)
