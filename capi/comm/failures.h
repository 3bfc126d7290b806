// The failed members of a communicator, and its revocation (ULFM: MPIX_Comm_ functions in mpix_gompirma.h).
//
// A communicator is restricted if it is revoked, or if in a fault-tolerant job the process has noticed that a member
// has failed. The fast paths of calls that communicate look up communicators by gompi_comm_usable, which does not find
// restricted ones. So these calls take their slow paths, which check the failures.
#ifndef GOMPI_COMM_FAILURES_H
#define GOMPI_COMM_FAILURES_H

#include "base/error_status.h"
#include "comm/comm.h"

#pragma GCC visibility push(hidden)

// Returns the process number of member i: the peers, then for an intercommunicator the local group. Returns -1 if i is
// out of range.
int gompi_comm_member(const struct gompi_comm *c, int i);

// Looks for failed members of a communicator. If there are any, returns true and, in a fault-tolerant job,
// restricts the communicator.
bool gompi_comm_note_failures(struct gompi_comm *c);

// Returns a failed member whose failure the application has not acknowledged, or GOMPI_NONE_FAILED.
int gompi_comm_unacknowledged(struct gompi_comm *c);

// Revokes a communicator in this process. Returns false if it is revoked already.
bool gompi_comm_mark_revoked(struct gompi_comm *c);

// The processes of a communicator: those of its group or, for an intercommunicator, of the remote and the local group.
struct gompi_comm_members {
	struct gompi_ranks peers, locals;
};

// Revokes the communicator with an id (the field `id`) in this process, and stores its processes in the zeroed
// *members, which the caller releases. Returns false if it is revoked already or does not exist. If it does not exist,
// it will be revoked when it is created.
bool gompi_comm_revoke_by_id(uint64_t id, struct gompi_comm_members *members);

// Returns the error class that an MPI function raises in place of MPI_ERR_PROC_ABORTED for an error on this object:
// MPIX_ERR_REVOKED if it is a revoked communicator, MPIX_ERR_PROC_FAILED in a fault-tolerant job. Returns any other
// class unchanged.
int gompi_fault_class(int class, uintptr_t object);

// Checks whether a collective call on a communicator is possible. Returns MPI_SUCCESS, or MPIX_ERR_REVOKED or
// MPI_ERR_PROC_ABORTED described in *v.
int gompi_comm_check_usable(uintptr_t handle, bool only_revoked, struct gompi_error_status *v);

// Copies to `failed` a flag for each member (gompi_comm_member): 1 if it has failed. With only_acked, 1 if in addition
// its failure is acknowledged.
void gompi_comm_failed_flags(uintptr_t handle, bool only_acked, unsigned char *failed);

#pragma GCC visibility pop
#endif
