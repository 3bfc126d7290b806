/* What went wrong: above 32 MiB of unexpected messages, new messages leave their data at the sender. The library
 * searched through all queued messages for each message of this kind. 170,000 messages took 14.6 s of CPU time.
 * Must hold: the cost of a message depends neither on the number of unexpected messages and pending receives, nor on
 * the order of the receives. MPI-5.0 3.5
 * np: 2
 * nodes: 2
 * args: unexpected any posted
 * ref: none (MPICH searches a list)
 * timeout: 60
 */
#include "../check.h"

enum { MESSAGES = 160000, TAGS = 7 };

static int sent[MESSAGES], got[MESSAGES];
static MPI_Request sends[MESSAGES], receives[MESSAGES];

static void send_all(int to) {
	for (int i = 0; i < MESSAGES; i++) {
		sent[i] = i;
		MPI_Isend(&sent[i], 1, MPI_INT, to, i % TAGS, MPI_COMM_WORLD, &sends[i]);
	}
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	int other = 1 - check_rank;
	if (strcmp(check_arg, "posted") == 0) {
		for (int i = 0; i < MESSAGES; i++)
			MPI_Irecv(&got[i], 1, MPI_INT, i % 2 ? other : MPI_ANY_SOURCE, i % TAGS, MPI_COMM_WORLD,
				  &receives[i]);
		MPI_Barrier(MPI_COMM_WORLD);
		send_all(other);
		MPI_Waitall(MESSAGES, receives, MPI_STATUSES_IGNORE);
	} else {
		int from = strcmp(check_arg, "any") == 0 ? MPI_ANY_SOURCE : other;
		send_all(other);
		MPI_Barrier(MPI_COMM_WORLD);
		for (int tag = TAGS - 1; tag >= 0; tag--)
			for (int i = tag; i < MESSAGES; i += TAGS)
				MPI_Recv(&got[i], 1, MPI_INT, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	MPI_Waitall(MESSAGES, sends, MPI_STATUSES_IGNORE);
	for (int i = 0; i < MESSAGES; i++)
		if (got[i] != i) {
			CHECK(0, "message %d is %d", i, got[i]);
			break;
		}
	return check_end();
}
