/* Proves: an invalid value of one of gompirma's own info keys is MPI_ERR_INFO_VALUE, in every creating call and in
 *   MPI_Win_set_info. All members get the error, even if only one of them passed the value. The text names the key and
 *   the allowed values. Later calls work, however many calls have failed. A freed info handle is MPI_ERR_INFO. MPI-5.0
 *   12.2.7, 12.2.1
 * np: 1 2 4
 * ref: none (other libraries do not know the keys)
 * timeout: 60
 */
#include "../check.h"

enum { CREATE, ALLOCATE, SHARED, DYNAMIC, SET, CALLS };
static const char *const call_name[] = {"create", "allocate", "allocate_shared", "create_dynamic", "set_info"};
static char memory[256];
static MPI_Win existing;

static int call(int which, MPI_Aint size, int unit, MPI_Info info, MPI_Win *win) {
	static void *base;
	switch (which) {
	case CREATE:
		return MPI_Win_create(memory, size, unit, info, MPI_COMM_WORLD, win);
	case ALLOCATE:
		return MPI_Win_allocate(size, unit, info, MPI_COMM_WORLD, &base, win);
	case SHARED:
		return MPI_Win_allocate_shared(size, unit, info, MPI_COMM_WORLD, &base, win);
	case DYNAMIC:
		return MPI_Win_create_dynamic(info, MPI_COMM_WORLD, win);
	default:
		return MPI_Win_set_info(existing, info);
	}
}

static MPI_Info one(const char *key, const char *value) {
	MPI_Info info;
	MPI_Info_create(&info);
	MPI_Info_set(info, key, value);
	return info;
}

/* Checks that the call with `info` fails with MPI_ERR_INFO_VALUE, and that the error text contains each of `words`. */
static void must_fail(int which, MPI_Aint size, int unit, MPI_Info info, const char *const words[3]) {
	MPI_Win win = MPI_WIN_NULL;
	int code = call(which, size, unit, info, &win), len;
	char text[MPI_MAX_ERROR_STRING] = "";
	MPI_Error_string(code, text, &len);
	CHECK(check_class(code) == MPI_ERR_INFO_VALUE, "%s: class %d (%s)", call_name[which], check_class(code), text);
	CHECK(win == MPI_WIN_NULL, "%s: a refused call wrote the handle", call_name[which]);
	for (int i = 0; i < 3 && words[i]; i++)
		CHECK(strstr(text, words[i]), "%s: \"%s\" is not in the text: %s", call_name[which], words[i], text);
	if (info != MPI_INFO_NULL)
		MPI_Info_free(&info);
}

static const struct {
	const char *key, *value, *allowed;
} bad[] = {
	{"gompirma_huge_pages", "2M", "true"},
	{"gompirma_huge_pages", "", "false"},
	{"gompirma_share_in_place", "perhaps", "require"},
};

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	int rank = check_rank, last = check_size - 1;
	void *base;
	MPI_Win win;
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	CHECK_OK(MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &existing));
	MPI_Win_set_errhandler(existing, MPI_ERRORS_RETURN);
	for (int time = 0; time < 30; time++) {
		for (int c = 0; c < CALLS; c++) {
			for (unsigned b = 0; b < sizeof bad / sizeof *bad; b++) {
				/* First all members pass the wrong value. Then only the last rank does, and the text at
				 * the other ranks names that rank. */
				must_fail(c, 64, 1, one(bad[b].key, bad[b].value),
					  (const char *const[3]){bad[b].key, bad[b].allowed});
				char who[40];
				snprintf(who, sizeof who, "rank %d", last);
				if (rank == last)
					must_fail(c, 64, 1, one(bad[b].key, bad[b].value),
						  (const char *const[3]){bad[b].key, bad[b].allowed});
				else
					must_fail(c, 64, 1, MPI_INFO_NULL, (const char *const[3]){who});
			}
		}
		MPI_Info info = one("gompirma_huge_pages", "true");
		CHECK_OK(MPI_Win_allocate(64, 1, info, MPI_COMM_WORLD, &base, &win));
		CHECK_OK(MPI_Win_free(&win));
		MPI_Info freed = info;
		MPI_Info_free(&info);
		if (rank == last)
			CHECK_CLASS(MPI_Win_set_info(existing, freed), MPI_ERR_INFO);
		else
			CHECK_CLASS(MPI_Win_set_info(existing, MPI_INFO_NULL), MPI_ERR_INFO);
		if (rank == last)
			CHECK_CLASS(MPI_Win_allocate(64, 1, freed, MPI_COMM_WORLD, &base, &win), MPI_ERR_INFO);
		else
			CHECK_CLASS(MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win), MPI_ERR_INFO);
	}
	int value = 5, got = 0;
	CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, existing));
	CHECK_OK(MPI_Put(&value, 1, MPI_INT, rank, 0, 1, MPI_INT, existing));
	CHECK_OK(MPI_Get(&got, 1, MPI_INT, rank, 0, 1, MPI_INT, existing));
	CHECK_OK(MPI_Win_unlock(rank, existing));
	CHECK(got == 5, "got %d", got);
	CHECK_OK(MPI_Win_free(&existing));
	return check_end();
}
