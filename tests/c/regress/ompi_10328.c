/* Reported (open-mpi/ompi issue 10328): MPI_Rget on a dynamic window failed or never completed, while MPI_Get worked.
 * Must hold: a rank attaches memory and fills it. All other ranks can concurrently read it by MPI_Rget, in small and
 * large calls, under each kind of lock, while the rank attaches and detaches other memory. MPI-5.0 12.2.4, 12.3.5
 * np: 2 4
 * args: malloc alloc_mem
 * ref: mpich
 * timeout: 60
 */
#include "../check.h"

enum { COUNT = 50000, ROUNDS = 5 };

static double *get_memory(void) {
	double *p;
	if (strcmp(check_arg, "malloc") == 0)
		return malloc(COUNT * sizeof *p);
	MPI_Alloc_mem(COUNT * sizeof *p, MPI_INFO_NULL, &p);
	return p;
}

static void give_memory(double *p) {
	if (strcmp(check_arg, "malloc") == 0)
		free(p);
	else
		MPI_Free_mem(p);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	MPI_Win win;
	MPI_Aint disp;
	MPI_Request requests[3];
	double *got = malloc(COUNT * sizeof *got);
	MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	for (int r = 0; r < ROUNDS; r++)
		for (int how = 0; how < 3; how++) {
			int owner = (r + how) % check_size, wrong = 0;
			double *mem = NULL;
			if (check_rank == owner) {
				mem = get_memory();
				for (int i = 0; i < COUNT; i++)
					mem[i] = 1000000 * (r + 1) + i;
				CHECK_OK(MPI_Win_attach(win, mem, COUNT * sizeof *mem));
				MPI_Get_address(mem, &disp);
			}
			MPI_Bcast(&disp, 1, MPI_AINT, owner, MPI_COMM_WORLD);
			for (int i = 0; i < COUNT; i++)
				got[i] = -1;
			if (how == 2)
				MPI_Win_lock_all(0, win);
			else
				MPI_Win_lock(how ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, owner, 0, win);
			/* three requests: one element, 99 elements, and the other elements */
			CHECK_OK(MPI_Rget(got, 1, MPI_DOUBLE, owner, disp, 1, MPI_DOUBLE, win, &requests[0]));
			CHECK_OK(MPI_Rget(got + 1, 99, MPI_DOUBLE, owner, MPI_Aint_add(disp, sizeof *got), 99,
					  MPI_DOUBLE, win, &requests[1]));
			CHECK_OK(MPI_Rget(got + 100, COUNT - 100, MPI_DOUBLE, owner,
					  MPI_Aint_add(disp, 100 * sizeof *got), COUNT - 100, MPI_DOUBLE, win,
					  &requests[2]));
			CHECK_OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
			for (int i = 0; i < COUNT && !wrong; i++)
				wrong = got[i] != 1000000 * (r + 1) + i ? i + 1 : 0;
			CHECK(!wrong, "round %d, lock %d: element %d is %g", r, how, wrong - 1, got[wrong - 1]);
			if (how == 2)
				MPI_Win_unlock_all(win);
			else
				MPI_Win_unlock(owner, win);
			MPI_Barrier(MPI_COMM_WORLD);
			if (mem) {
				CHECK_OK(MPI_Win_detach(win, mem));
				give_memory(mem);
			}
		}
	MPI_Win_free(&win);
	free(got);
	return check_end();
}
