/* Proves: ranks that have failed can be replaced (ULFM): the survivors shrink the communicator, start new processes by
 *   MPI_Comm_spawn, merge the groups, agree on the intercommunicator that this worked, and give the new processes the
 *   ranks of the failed ones. The argument is the number of ranks that fail one after the other.
 * np: 4
 * args: 1 3
 * env: GOMPIRMA_FT=1
 * ref: none (needs ULFM)
 * timeout: 60
 */
#include "../check.h"

#include <mpi-ext.h>
#include <signal.h>
#include <unistd.h>

static char *program;
static char *program_args[] = {NULL, NULL};

/* Stores in *full a communicator in which new processes replace the failed members of comm. MPI_COMM_NULL is passed by
 * a new process. */
static void replace(MPI_Comm comm, MPI_Comm *full) {
	MPI_Comm inter, survivors = MPI_COMM_WORLD, merged;
	int rank, flag = 1;
	if (comm == MPI_COMM_NULL) {
		MPI_Comm_get_parent(&inter);
		CHECK_OK(MPI_Recv(&rank, 1, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE));
	} else {
		MPI_Group all, alive, failed;
		int n, me;
		CHECK_OK(MPIX_Comm_shrink(comm, &survivors));
		MPI_Comm_set_errhandler(survivors, MPI_ERRORS_RETURN);
		MPI_Comm_group(comm, &all);
		MPI_Comm_group(survivors, &alive);
		MPI_Group_difference(all, alive, &failed);
		MPI_Group_size(failed, &n);
		CHECK(n == 1, "%d ranks have failed", n);
		CHECK_OK(MPI_Comm_spawn(program, program_args, n, MPI_INFO_NULL, 0, survivors, &inter,
					MPI_ERRCODES_IGNORE));
		CHECK_OK(MPIX_Comm_agree(survivors, &flag));
		MPI_Comm_rank(survivors, &me);
		for (int i = 0; i < n && me == 0; i++) {
			MPI_Group_translate_ranks(failed, 1, &i, all, &rank);
			CHECK_OK(MPI_Send(&rank, 1, MPI_INT, i, 1, inter));
		}
		MPI_Group_free(&all);
		MPI_Group_free(&alive);
		MPI_Group_free(&failed);
		MPI_Comm_rank(comm, &rank);
	}
	CHECK_OK(MPI_Intercomm_merge(inter, 1, &merged));
	CHECK_OK(MPIX_Comm_agree(survivors, &flag));
	CHECK_OK(MPIX_Comm_agree(inter, &flag));
	CHECK(flag == 1, "the flag is %d", flag);
	if (survivors != MPI_COMM_WORLD)
		MPI_Comm_free(&survivors);
	MPI_Comm_free(&inter);
	CHECK_OK(MPI_Comm_split(merged, 0, rank, full));
	MPI_Comm_free(&merged);
	MPI_Comm_set_errhandler(*full, MPI_ERRORS_RETURN);
}

int main(int argc, char **argv) {
	MPI_Comm parent, comm, full;
	int rank, size, sum;
	check_begin(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_get_parent(&parent);
	program = argv[0];
	program_args[0] = (char *)check_arg;
	int step = 0, kills = atoi(check_arg);
	if (parent != MPI_COMM_NULL) {
		MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
		replace(MPI_COMM_NULL, &comm);
	} else {
		CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
		MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
	}
	do { /* the first ranks fail one after the other */
		CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, &step, 1, MPI_INT, MPI_MAX, comm));
		MPI_Comm_rank(comm, &rank);
		MPI_Comm_size(comm, &size);
		CHECK(size == 4, "%d ranks", size);
		if (step < kills && rank == step + 1) {
			sleep(1); /* until the others have left the call */
			raise(SIGKILL);
		}
		int rc = MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
		if (step < kills) {
			CHECK(check_class(rc) == MPIX_ERR_PROC_FAILED || check_class(rc) == MPIX_ERR_REVOKED,
			      "the sum without a rank returned %s", check_string(rc));
			MPIX_Comm_revoke(comm);
			replace(comm, &full);
			MPI_Comm_free(&comm);
			comm = full;
		} else {
			CHECK(rc == MPI_SUCCESS && sum == 6, "%s, sum %d", check_string(rc), sum);
		}
	} while (step++ < kills);
	int errors = check_errors;
	CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, &errors, 1, MPI_INT, MPI_SUM, comm));
	MPI_Comm_free(&comm);
	if (rank == 0)
		printf(errors == 0 ? "PASS\n" : "FAIL\n");
	MPI_Finalize();
	return errors != 0;
}
