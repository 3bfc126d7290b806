/* Completion of requests (MPI-5.0 3.7). Fortran counts indices from 1, and what is kept for a request is done with when
 * it is complete. */
#include "gompi_f.h"

static inline void completed(int request) {
	if (gompi_kept_count)
		gompi_kept_completed(request);
}

static inline int index_out(int index) { return index == MPI_UNDEFINED ? index : index + 1; }

ENTRY void NAME(wait)(int *request, MPI_Status *status, int *ierror) {
	MPI_Request c_request = request_in(*request);
	int rc = CALL(Wait)(&c_request, status_in(status));
	completed(*request);
	*request = request_out(c_request);
	done(ierror, rc);
}
SAME(wait, wait_f08)

ENTRY void NAME(test)(int *request, int *flag, MPI_Status *status, int *ierror) {
	MPI_Request c_request = request_in(*request);
	int c_flag = 0, rc = CALL(Test)(&c_request, &c_flag, status_in(status));
	if (c_flag)
		completed(*request);
	*request = request_out(c_request);
	*flag = logical_out(c_flag);
	done(ierror, rc);
}
SAME(test, test_f08)

ENTRY void NAME(request_get_status)(const int *request, int *flag, MPI_Status *status, int *ierror) {
	int c_flag = 0, rc = CALL(Request_get_status)(request_in(*request), &c_flag, status_in(status));
	if (c_flag)
		completed(*request);
	*flag = logical_out(c_flag);
	done(ierror, rc);
}
SAME(request_get_status, request_get_status_f08)

/* Arrays of requests. */

/* some is the end of all calls that complete some of n requests, those at indices: all if indices is NULL. */
static void some(int n, int *requests, const MPI_Request *now, int completions, const int *indices) {
	for (int i = 0; i < completions; i++)
		completed(requests[indices ? indices[i] : i]);
	for (int i = 0; now && i < n; i++)
		requests[i] = request_out(now[i]);
}

static void refuse(int *ierror, int rc) { done(ierror, gompi_raise(RAISE_SELF, 0, rc)); }

ENTRY void NAME(waitall)(const int *count, int *array_of_requests, MPI_Status *array_of_statuses, int *ierror) {
	struct gompi_array a = {0};
	int rc = requests_in(&a, *count, array_of_requests);
	if (rc) {
		refuse(ierror, rc);
		return;
	}
	rc = CALL(Waitall)(*count, a.data, status_in(array_of_statuses));
	some(*count, array_of_requests, a.data, *count, NULL);
	gompi_array_free(&a);
	done(ierror, rc);
}
SAME(waitall, waitall_f08)

ENTRY void NAME(testall)(const int *count, int *array_of_requests, int *flag, MPI_Status *array_of_statuses,
			 int *ierror) {
	struct gompi_array a = {0};
	int c_flag = 0, rc = requests_in(&a, *count, array_of_requests);
	if (rc) {
		refuse(ierror, rc);
		return;
	}
	rc = CALL(Testall)(*count, a.data, &c_flag, status_in(array_of_statuses));
	some(*count, array_of_requests, a.data, c_flag ? *count : 0, NULL);
	*flag = logical_out(c_flag);
	gompi_array_free(&a);
	done(ierror, rc);
}
SAME(testall, testall_f08)

ENTRY void NAME(waitany)(const int *count, int *array_of_requests, int *index, MPI_Status *status, int *ierror) {
	struct gompi_array a = {0};
	int c_index = MPI_UNDEFINED, rc = requests_in(&a, *count, array_of_requests);
	if (rc) {
		refuse(ierror, rc);
		return;
	}
	rc = CALL(Waitany)(*count, a.data, &c_index, status_in(status));
	some(*count, array_of_requests, a.data, c_index != MPI_UNDEFINED, &c_index);
	*index = index_out(c_index);
	gompi_array_free(&a);
	done(ierror, rc);
}
SAME(waitany, waitany_f08)

ENTRY void NAME(testany)(const int *count, int *array_of_requests, int *index, int *flag, MPI_Status *status,
			 int *ierror) {
	struct gompi_array a = {0};
	int c_index = MPI_UNDEFINED, c_flag = 0, rc = requests_in(&a, *count, array_of_requests);
	if (rc) {
		refuse(ierror, rc);
		return;
	}
	rc = CALL(Testany)(*count, a.data, &c_index, &c_flag, status_in(status));
	some(*count, array_of_requests, a.data, c_flag && c_index != MPI_UNDEFINED, &c_index);
	*index = index_out(c_index);
	*flag = logical_out(c_flag);
	gompi_array_free(&a);
	done(ierror, rc);
}
SAME(testany, testany_f08)

ENTRY void NAME(waitsome)(const int *incount, int *array_of_requests, int *outcount, int *array_of_indices,
			  MPI_Status *array_of_statuses, int *ierror) {
	struct gompi_array a = {0};
	int n = MPI_UNDEFINED, rc = requests_in(&a, *incount, array_of_requests);
	if (rc) {
		refuse(ierror, rc);
		return;
	}
	rc = CALL(Waitsome)(*incount, a.data, &n, array_of_indices, status_in(array_of_statuses));
	some(*incount, array_of_requests, a.data, n, array_of_indices);
	for (int i = 0; i < n; i++)
		array_of_indices[i]++;
	*outcount = n;
	gompi_array_free(&a);
	done(ierror, rc);
}
SAME(waitsome, waitsome_f08)

ENTRY void NAME(testsome)(const int *incount, int *array_of_requests, int *outcount, int *array_of_indices,
			  MPI_Status *array_of_statuses, int *ierror) {
	struct gompi_array a = {0};
	int n = MPI_UNDEFINED, rc = requests_in(&a, *incount, array_of_requests);
	if (rc) {
		refuse(ierror, rc);
		return;
	}
	rc = CALL(Testsome)(*incount, a.data, &n, array_of_indices, status_in(array_of_statuses));
	some(*incount, array_of_requests, a.data, n, array_of_indices);
	for (int i = 0; i < n; i++)
		array_of_indices[i]++;
	*outcount = n;
	gompi_array_free(&a);
	done(ierror, rc);
}
SAME(testsome, testsome_f08)

/* The same without releasing requests. */

ENTRY void NAME(request_get_status_all)(const int *count, const int *array_of_requests, int *flag,
					MPI_Status *array_of_statuses, int *ierror) {
	struct gompi_array a = {0};
	int c_flag = 0, rc = requests_in(&a, *count, array_of_requests);
	if (rc) {
		refuse(ierror, rc);
		return;
	}
	rc = CALL(Request_get_status_all)(*count, a.data, &c_flag, status_in(array_of_statuses));
	some(*count, (int *)array_of_requests, NULL, c_flag ? *count : 0, NULL);
	*flag = logical_out(c_flag);
	gompi_array_free(&a);
	done(ierror, rc);
}
SAME(request_get_status_all, request_get_status_all_f08)

ENTRY void NAME(request_get_status_any)(const int *count, const int *array_of_requests, int *index, int *flag,
					MPI_Status *status, int *ierror) {
	struct gompi_array a = {0};
	int c_index = MPI_UNDEFINED, c_flag = 0, rc = requests_in(&a, *count, array_of_requests);
	if (rc) {
		refuse(ierror, rc);
		return;
	}
	rc = CALL(Request_get_status_any)(*count, a.data, &c_index, &c_flag, status_in(status));
	some(*count, (int *)array_of_requests, NULL, c_flag && c_index != MPI_UNDEFINED, &c_index);
	*index = index_out(c_index);
	*flag = logical_out(c_flag);
	gompi_array_free(&a);
	done(ierror, rc);
}
SAME(request_get_status_any, request_get_status_any_f08)

ENTRY void NAME(request_get_status_some)(const int *incount, const int *array_of_requests, int *outcount,
					 int *array_of_indices, MPI_Status *array_of_statuses, int *ierror) {
	struct gompi_array a = {0};
	int n = MPI_UNDEFINED, rc = requests_in(&a, *incount, array_of_requests);
	if (rc) {
		refuse(ierror, rc);
		return;
	}
	rc = CALL(Request_get_status_some)(*incount, a.data, &n, array_of_indices, status_in(array_of_statuses));
	some(*incount, (int *)array_of_requests, NULL, n, array_of_indices);
	for (int i = 0; i < n; i++)
		array_of_indices[i]++;
	*outcount = n;
	gompi_array_free(&a);
	done(ierror, rc);
}
SAME(request_get_status_some, request_get_status_some_f08)

/* Persistent requests. */

ENTRY void NAME(start)(int *request, int *ierror) {
	MPI_Request c_request = request_in(*request);
	int rc;
	if (gompi_kept_count)
		gompi_kept_started(*request);
	rc = CALL(Start)(&c_request);
	*request = request_out(c_request);
	done(ierror, rc);
}
SAME(start, start_f08)

ENTRY void NAME(startall)(const int *count, int *array_of_requests, int *ierror) {
	struct gompi_array a = {0};
	int rc = requests_in(&a, *count, array_of_requests);
	if (rc) {
		refuse(ierror, rc);
		return;
	}
	if (gompi_kept_count)
		for (int i = 0; i < *count; i++)
			gompi_kept_started(array_of_requests[i]);
	rc = CALL(Startall)(*count, a.data);
	some(*count, array_of_requests, a.data, 0, NULL);
	gompi_array_free(&a);
	done(ierror, rc);
}
SAME(startall, startall_f08)

ENTRY void NAME(request_free)(int *request, int *ierror) {
	MPI_Request c_request = request_in(*request);
	int rc = CALL(Request_free)(&c_request);
	if (!rc && gompi_kept_count)
		gompi_kept_freed(*request);
	*request = request_out(c_request);
	done(ierror, rc);
}
SAME(request_free, request_free_f08)

/* Nonblocking duplication: C writes a handle of its own size, at the latest when the request is complete. */

ENTRY void NAME(comm_idup)(const int *comm, int *newcomm, int *request, int *ierror) {
	struct gompi_kept k = {.newcomm = malloc(sizeof(MPI_Comm)), .newcomm_to = newcomm};
	MPI_Request c_request = MPI_REQUEST_NULL;
	int rc;
	if (!k.newcomm) {
		done(ierror, gompi_raise(RAISE_COMM, *comm, MPI_ERR_NO_MEM));
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

ENTRY void NAME(comm_idup_with_info)(const int *comm, const int *info, int *newcomm, int *request, int *ierror) {
	struct gompi_kept k = {.newcomm = malloc(sizeof(MPI_Comm)), .newcomm_to = newcomm};
	MPI_Request c_request = MPI_REQUEST_NULL;
	int rc;
	if (!k.newcomm) {
		done(ierror, gompi_raise(RAISE_COMM, *comm, MPI_ERR_NO_MEM));
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
