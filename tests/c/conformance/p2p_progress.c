/* Proves: a large message arrives once its receive is started, although the receiver's thread then computes or sleeps.
 *   The senders are in MPI_Send, MPI_Ssend, MPI_Wait, MPI_Waitall, MPI_Waitany or MPI_Sendrecv, or call MPI_Test and
 *   MPI_Request_get_status. The receive is started by MPI_Irecv, MPI_Start or MPI_Imrecv, before or after the message
 *   has arrived. gompirma promises this; the standard lets such a sender wait for the receiver's next call
 * np: 2 4
 * args: read computing
 * ref: none (MPICH and Open MPI wait for the receiver's next call)
 * again: GOMPIRMA_NO_CMA=1
 * nodes: 1 (the ranks report their progress to each other in shared memory)
 * timeout: 60
 */
#include "../no_progress.h"

enum { N = 50000, MOST = 4 };
enum { BEFORE, BEHIND, MATCHED, STARTED, RECEIVES };
enum { SEND, SSEND, WAIT, WAITALL, WAITANY, SENDRECV, TEST, GET_STATUS, SENDS };
static const char *const send_name[SENDS] = {"MPI_Send",    "MPI_Ssend",    "MPI_Wait", "MPI_Waitall",
					     "MPI_Waitany", "MPI_Sendrecv", "MPI_Test", "MPI_Request_get_status"};
static const char *const receive_name[RECEIVES] = {"posted before", "behind", "matched", "persistent"};
static const MPI_Comm W = MPI_COMM_WORLD;
static int out[N], in[MOST][N];

static void give(int how) {
	MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
	int flag = 0, which;
	if (how == SEND) {
		MPI_Send(out, N, MPI_INT, 0, 1, W);
		return;
	}
	if (how == SSEND) {
		MPI_Ssend(out, N, MPI_INT, 0, 1, W);
		return;
	}
	if (how == SENDRECV) {
		MPI_Sendrecv(out, N, MPI_INT, 0, 1, NULL, 0, MPI_INT, MPI_PROC_NULL, 0, W, MPI_STATUS_IGNORE);
		return;
	}
	MPI_Isend(out, N, MPI_INT, 0, 1, W, &r[1]);
	if (how == WAITALL)
		MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	else if (how == WAITANY)
		MPI_Waitany(2, r, &which, MPI_STATUS_IGNORE);
	else if (how == TEST)
		while (!flag)
			MPI_Test(&r[1], &flag, MPI_STATUS_IGNORE);
	else if (how == GET_STATUS)
		while (!flag)
			MPI_Request_get_status(r[1], &flag, MPI_STATUS_IGNORE);
	MPI_Wait(&r[1], MPI_STATUS_IGNORE);
}

static void take(int how, int from, MPI_Request *r) {
	MPI_Message m;
	switch (how) {
	case BEHIND:
		MPI_Probe(from, 1, W, MPI_STATUS_IGNORE);
		/* fallthrough */
	case BEFORE:
		MPI_Irecv(in[from], N, MPI_INT, from, 1, W, r);
		return;
	case MATCHED:
		MPI_Mprobe(from, 1, W, &m, MPI_STATUS_IGNORE);
		MPI_Imrecv(in[from], N, MPI_INT, &m, r);
		return;
	default:
		MPI_Recv_init(in[from], N, MPI_INT, from, 1, W, r);
		MPI_Probe(from, 1, W, MPI_STATUS_IGNORE);
		MPI_Start(r);
	}
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	int away = strcmp(check_arg, "computing") == 0 ? AWAY_COMPUTE : AWAY_READ;
	char text[200];
	away_begin();
	for (int receive = 0; receive < RECEIVES; receive++)
		for (int how = 0; how < SENDS; how++) {
			MPI_Request r[MOST];
			snprintf(text, sizeof text, "%s, receive %s", send_name[how], receive_name[receive]);
			for (int i = 0; i < N; i++)
				out[i] = check_rank * 100 + how * 10 + receive + i;
			if (receive == BEFORE && check_rank == 0)
				for (int i = 1; i < check_size; i++)
					take(receive, i, &r[i]);
			MPI_Barrier(W);
			if (check_rank != 0) {
				away_watch(text);
				give(how);
				away_call(away);
				continue;
			}
			if (receive != BEFORE)
				for (int i = 1; i < check_size; i++)
					take(receive, i, &r[i]);
			away_until(away, check_size - 1);
			for (int i = 1; i < check_size; i++) {
				MPI_Wait(&r[i], MPI_STATUS_IGNORE);
				if (r[i] != MPI_REQUEST_NULL)
					MPI_Request_free(&r[i]);
				for (int k = 0; k < N; k++)
					if (in[i][k] != i * 100 + how * 10 + receive + k) {
						CHECK(0, "%s: element %d from %d is %d", text, k, i, in[i][k]);
						break;
					}
			}
		}
	away_end();
	return check_end();
}
