/* Windows whose info key accumulate_ordering has each subset of its keywords, including no keyword, in different
 * orders. The guarantees of the subset hold:
 *     waw: REPLACE a; REPLACE b ends at b           raw: REPLACE a; NO_OP fetches a
 *     war: NO_OP; REPLACE a does not fetch a        rar: NO_OP; NO_OP do not decrease while another origin only adds
 *     for each subset, also the empty one: no addition is lost
 * Forbidden: any other outcome; MPI_Win_get_info reports another subset than the requested one. Runs on each window
 * kind.
 * MPI-5.0 12.7.2, 12.2.1
 * np: 2 3
 * again: GOMPIRMA_NO_CMA=1
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

enum { RAR = 1, RAW = 2, WAR = 4, WAW = 8, SUBSETS = 16, TIMES = 40, SUM = 6, RISING = 7, OWN = 8 };

static const char *const names[] = {"rar", "raw", "war", "waw"};
static int subset;

static int in_text(const char *text) {
	int set = 0;
	for (int i = 0; i < 4; i++)
		if (strstr(text, names[i]))
			set |= 1 << i;
	return set;
}

static void check_info(struct window *w) {
	MPI_Info info;
	char value[100];
	int found;
	MPI_Win_get_info(w->win, &info);
	MPI_Info_get(info, "accumulate_ordering", sizeof value - 1, value, &found);
	if (found)
		CHECK(in_text(value) == subset && (subset || strcmp(value, "none") == 0),
		      "%s window: accumulate_ordering is %s", w->name, value);
	MPI_Info_free(&info);
}

static void body(struct window *w) {
	MPI_Datatype L = MPI_INT64_T;
	int t = 0;
	int64_t one = 1, last = -1;
	check_info(w);
	window_zero(w);
	MPI_Win_lock_all(0, w->win);
	MPI_Aint mine = window_at(w, t, OWN + w->rank), sum = window_at(w, t, SUM), rising = window_at(w, t, RISING);
	for (int i = 0; i < TIMES; i++) {
		int64_t a = 2 * i + 1, b = a + 1, end = -1, read = -1, first = -1, second = -1;
		MPI_Accumulate(&a, 1, L, t, mine, 1, L, MPI_REPLACE, w->win);
		if (subset & RAW) {
			MPI_Fetch_and_op(NULL, &read, L, t, mine, MPI_NO_OP, w->win);
			if (!(subset & WAR))
				MPI_Win_flush(t, w->win);
		}
		if (!(subset & WAW))
			MPI_Win_flush(t, w->win);
		if (subset & WAR)
			MPI_Get_accumulate(NULL, 0, L, &first, 1, L, t, mine, 1, L, MPI_NO_OP, w->win);
		MPI_Accumulate(&b, 1, L, t, mine, 1, L, MPI_REPLACE, w->win);
		MPI_Accumulate(&one, 1, L, t, sum, 1, L, MPI_SUM, w->win);
		MPI_Win_flush(t, w->win);
		CHECK(!(subset & RAW) || read == a, "%s window, set %d: raw: wrote %d, read %d", w->name, subset,
		      (int)a, (int)read);
		CHECK(!(subset & WAR) || (first != b && (first == a || !(subset & RAW))),
		      "%s window, set %d: war: read %d before %d", w->name, subset, (int)first, (int)b);
		MPI_Fetch_and_op(NULL, &end, L, t, mine, MPI_NO_OP, w->win);
		MPI_Win_flush(t, w->win);
		CHECK(end == b, "%s window, set %d: waw: %d then %d: in the end %d", w->name, subset, (int)a, (int)b,
		      (int)end);
		if (w->rank == 1) {
			MPI_Accumulate(&one, 1, L, t, rising, 1, L, MPI_SUM, w->win);
		} else if (subset & RAR) {
			MPI_Fetch_and_op(NULL, &first, L, t, rising, MPI_NO_OP, w->win);
			MPI_Get_accumulate(NULL, 0, L, &second, 1, L, t, rising, 1, L, MPI_NO_OP, w->win);
			MPI_Win_flush(t, w->win);
			CHECK(last <= first && first <= second, "%s window, set %d: rar: %d, %d, %d", w->name, subset,
			      (int)last, (int)first, (int)second);
			last = second;
		}
	}
	MPI_Win_flush(t, w->win);
	MPI_Barrier(w->comm);
	int64_t total = -1;
	MPI_Fetch_and_op(NULL, &total, L, t, sum, MPI_NO_OP, w->win);
	MPI_Win_unlock_all(w->win);
	CHECK(total == TIMES * w->n, "%s window, set %d: the sum is %d, not %d", w->name, subset, (int)total,
	      TIMES * w->n);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	for (subset = 0; subset < SUBSETS; subset++) {
		char text[50] = "";
		for (int i = 0; i < 4; i++) {
			int k = (i + subset) % 4;
			if (subset & 1 << k)
				snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", *text ? "," : "",
					 names[k]);
		}
		MPI_Info_create(&windows_info);
		MPI_Info_set(windows_info, "accumulate_ordering", *text ? text : "none");
		windows_each(8 * (OWN + check_size), 8, MPI_COMM_WORLD, body);
		MPI_Info_free(&windows_info);
	}
	return check_end();
}
