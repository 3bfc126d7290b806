/* Each of two ranks has an exposure epoch for the other rank (P post, W wait) and an access epoch at the other rank (S
 * start and put, C complete). Each rank makes the four calls in one of 6 orders, which gives 36 pairs of orders. A
 * model computes which pairs terminate. In the model, start waits for the post, wait waits for the complete, and no
 * other call blocks.
 * Forbidden: a pair that terminates in the model hangs. Runs with small and large data on each window kind.
 * MPI-5.0 12.5.2, 12.7.3
 * np: 2
 * again: GOMPIRMA_NO_CMA=1
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

enum { MOST = 40000, ORDERS = 6 };

static const char *const orders[ORDERS] = {"PSCW", "PSWC", "PWSC", "SPCW", "SPWC", "SCPW"};

static int done(const char *order, int steps, char call) {
	for (int i = 0; i < steps; i++)
		if (order[i] == call)
			return 1;
	return 0;
}

static int ends(const char *a, const char *b) {
	const char *order[2] = {a, b};
	int at[2] = {0, 0};
	for (int moved = 1; moved;) {
		moved = 0;
		for (int r = 0; r < 2; r++) {
			char call = order[r][at[r]];
			if (call == 'S' && !done(order[1 - r], at[1 - r], 'P'))
				continue;
			if (call == 'W' && !done(order[1 - r], at[1 - r], 'C'))
				continue;
			if (call)
				at[r]++, moved = 1;
		}
	}
	return at[0] == 4 && at[1] == 4;
}

static void body(struct window *w) {
	int other = 1 - w->rank, pairs = 0, *mem = w->mem, *data = malloc(MOST * sizeof(int));
	MPI_Group all, group;
	MPI_Win_get_group(w->win, &all);
	MPI_Group_incl(all, 1, &other, &group);
	for (int i = 0; i < ORDERS * ORDERS; i++) {
		const char *order[2] = {orders[i / ORDERS], orders[i % ORDERS]};
		if (!ends(order[0], order[1]))
			continue;
		int count = ++pairs % 3 ? 5 : MOST;
		for (const char *call = order[w->rank]; *call; call++) {
			switch (*call) {
			case 'P':
				for (int k = 0; k < count; k++)
					mem[k] = -1;
				MPI_Win_post(group, 0, w->win);
				break;
			case 'S':
				for (int k = 0; k < count; k++)
					data[k] = 1000 * i + w->rank + k;
				MPI_Win_start(group, 0, w->win);
				MPI_Put(data, count, MPI_INT, other, window_at(w, other, 0), count, MPI_INT, w->win);
				break;
			case 'C':
				MPI_Win_complete(w->win);
				break;
			default:
				MPI_Win_wait(w->win);
				for (int k = 0; k < count; k += 1 + k / 50)
					CHECK(mem[k] == 1000 * i + other + k,
					      "%s window, %s and %s: [%d] is %d, not %d", w->name, order[0], order[1],
					      k, mem[k], 1000 * i + other + k);
			}
		}
	}
	CHECK(pairs == 19, "%d pairs of orders end in the model, not 19", pairs);
	MPI_Group_free(&group);
	MPI_Group_free(&all);
	free(data);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(MOST * sizeof(int), sizeof(int), MPI_COMM_WORLD, body);
	return check_end();
}
