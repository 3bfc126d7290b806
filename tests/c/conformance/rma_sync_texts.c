/* Proves: the text of MPI_ERR_RMA_SYNC names the open epoch, the call that opened the epoch, and the refused call. It
 *   names both epochs if two are open. The text of MPI_ERR_ASSERT reports if the assertion is the value of
 *   MPI_INFO_NULL, because Fortran programs can confuse the two integers. gompirma promises these texts
 * np: 1 2
 * ref: none (texts are not the standard's)
 * timeout: 30
 */
#include "../check.h"

/* Checks that code is MPI_ERR_RMA_SYNC and that its text contains the three strings. */
static void says(int line, int code, const char *refused, const char *open, const char *also) {
	const char *text = check_string(code);
	if (check_class(code) != MPI_ERR_RMA_SYNC)
		check_fail(__FILE__, line, "class %d, not MPI_ERR_RMA_SYNC", check_class(code));
	if (!strstr(text, refused) || !strstr(text, open) || !strstr(text, also))
		check_fail(__FILE__, line, "the text does not say '%s', '%s' and '%s': %s", refused, open, also, text);
}

#define SAYS(call, refused, open, also) says(__LINE__, call, refused, open, also)

/* Checks that code is MPI_ERR_ASSERT, and that its text mentions MPI_INFO_NULL if and only if is_info is set. */
static void refuses(int line, int code, int is_info) {
	const char *text = check_string(code);
	if (check_class(code) != MPI_ERR_ASSERT)
		check_fail(__FILE__, line, "class %d, not MPI_ERR_ASSERT", check_class(code));
	if ((strstr(text, "MPI_INFO_NULL") != NULL) != is_info)
		check_fail(__FILE__, line, "the text is: %s", text);
}

static void assertions(MPI_Win win, MPI_Group group) {
	for (int is_info = 0; is_info < 2; is_info++) {
		int assert = is_info ? (int)(intptr_t)MPI_INFO_NULL : 3;
		refuses(__LINE__, MPI_Win_fence(assert, win), is_info);
		refuses(__LINE__, MPI_Win_post(group, assert, win), is_info);
		refuses(__LINE__, MPI_Win_start(group, assert, win), is_info);
		refuses(__LINE__, MPI_Win_lock(MPI_LOCK_SHARED, check_rank, assert, win), is_info);
		refuses(__LINE__, MPI_Win_lock_all(assert, win), is_info);
	}
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	int *mem, value = 1, me = check_rank, flag;
	MPI_Win win;
	MPI_Group self, all;
	MPI_Win_allocate(64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	MPI_Win_set_name(win, "wheat");
	MPI_Win_get_group(win, &all);
	MPI_Group_incl(all, 1, &me, &self);

	assertions(win, self);
	SAYS(MPI_Put(&value, 1, MPI_INT, me, 0, 1, MPI_INT, win), "MPI_Put", "no access epoch", "wheat");
	SAYS(MPI_Put(&value, 1, MPI_INT, me, 5, 1, MPI_INT, win), "MPI_Put",
	     "no access epoch is open: call MPI_Win_fence, MPI_Win_start or MPI_Win_lock first", "target_disp 5");
	SAYS(MPI_Win_flush(me, win), "MPI_Win_flush", "no access epoch", "call MPI_Win_lock or MPI_Win_lock_all first");
	SAYS(MPI_Win_unlock(me, win), "MPI_Win_unlock", "no access epoch", "call MPI_Win_lock first");
	SAYS(MPI_Win_complete(win), "MPI_Win_complete", "no access epoch", "call MPI_Win_start first");
	SAYS(MPI_Win_wait(win), "MPI_Win_wait", "no exposure epoch", "MPI_Win_post");
	SAYS(MPI_Win_test(win, &flag), "MPI_Win_test", "no exposure epoch", "MPI_Win_post");

	MPI_Win_fence(0, win);
	SAYS(MPI_Win_flush_all(win), "MPI_Win_flush_all", "MPI_Win_fence",
	     "call MPI_Win_lock or MPI_Win_lock_all first");
	MPI_Put(&value, 1, MPI_INT, me, 0, 1, MPI_INT, win);
	SAYS(MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win), "MPI_Win_lock", "a fence epoch", "since MPI_Win_fence");
	SAYS(MPI_Win_post(all, 0, win), "MPI_Win_post", "a fence epoch", "since MPI_Win_fence");
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);

	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, win);
	SAYS(MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win), "MPI_Win_lock", "already holds the lock",
	     "call MPI_Win_unlock first");
	SAYS(MPI_Win_lock_all(0, win), "MPI_Win_lock_all", "a lock epoch",
	     "since MPI_Win_lock: call MPI_Win_unlock first");
	SAYS(MPI_Win_fence(0, win), "MPI_Win_fence", "a lock epoch", "since MPI_Win_lock");
	SAYS(MPI_Win_start(self, 0, win), "MPI_Win_start", "a lock epoch", "since MPI_Win_lock");
	if (check_size > 1) {
		SAYS(MPI_Put(&value, 1, MPI_INT, 1 - me, 0, 1, MPI_INT, win), "MPI_Put", "since MPI_Win_lock",
		     me ? "target 0" : "target 1");
		SAYS(MPI_Win_flush(1 - me, win), "MPI_Win_flush", "call MPI_Win_lock first",
		     me ? "but not of rank 0" : "but not of rank 1");
	}
	MPI_Win copy = win;
	SAYS(MPI_Win_free(&copy), "MPI_Win_free", "a lock epoch", "since MPI_Win_lock");
	MPI_Win_unlock(me, win);

	MPI_Win_lock_all(0, win);
	SAYS(MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win), "MPI_Win_lock", "a lock epoch", "since MPI_Win_lock_all");
	SAYS(MPI_Win_unlock(me, win), "MPI_Win_unlock", "a lock epoch",
	     "since MPI_Win_lock_all: call MPI_Win_unlock_all instead");
	MPI_Win_unlock_all(win);

	MPI_Win_post(self, 0, win);
	SAYS(MPI_Put(&value, 1, MPI_INT, me, 0, 1, MPI_INT, win), "MPI_Put", "no access epoch",
	     "an exposure epoch has been open since MPI_Win_post");
	SAYS(MPI_Win_post(self, 0, win), "MPI_Win_post", "an exposure epoch", "since MPI_Win_post");
	MPI_Win_start(self, 0, win);
	SAYS(MPI_Win_fence(0, win), "MPI_Win_fence", "an access epoch has been open since MPI_Win_start",
	     "an exposure epoch has been open since MPI_Win_post: call MPI_Win_complete and MPI_Win_wait first");
	SAYS(MPI_Win_lock_all(0, win), "MPI_Win_lock_all", "since MPI_Win_start", "since MPI_Win_post");
	MPI_Win_complete(win);
	SAYS(MPI_Win_free(&copy), "MPI_Win_free", "no access epoch", "since MPI_Win_post: call MPI_Win_wait first");
	MPI_Win_wait(win);

	MPI_Group_free(&self);
	MPI_Group_free(&all);
	MPI_Win_free(&win);
	return check_end();
}
