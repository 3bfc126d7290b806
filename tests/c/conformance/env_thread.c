/* Proves: MPI_Init_thread provides at least the requested level, which may be MPI_THREAD_MULTIPLE, and MPI_Query_thread
 *   returns the same level. MPI_Is_thread_main is true in the main thread and false in another thread. MPI-5.0 11.6
 * np: 1 2
 * args: single funneled serialized multiple
 * ref: mpich
 * timeout: 30
 */
#include "../check.h"
#include <pthread.h>

static int main_in_thread = -1, level_in_thread = -1;

static void *other(void *unused) {
	MPI_Is_thread_main(&main_in_thread);
	MPI_Query_thread(&level_in_thread);
	return unused;
}

int main(int argc, char **argv) {
	static const struct {
		const char *name;
		int level;
	} levels[] = {{"single", MPI_THREAD_SINGLE},
		      {"funneled", MPI_THREAD_FUNNELED},
		      {"serialized", MPI_THREAD_SERIALIZED},
		      {"multiple", MPI_THREAD_MULTIPLE}};
	int wanted = MPI_THREAD_SINGLE, provided = -1, level = -1, is_main = -1;
	for (int i = 0; i < 4; i++)
		if (argc > 1 && strcmp(argv[1], levels[i].name) == 0)
			wanted = levels[i].level;
	int code = MPI_Init_thread(&argc, &argv, wanted, &provided);
	check_started(argc, argv);
	CHECK(code == MPI_SUCCESS, "MPI_Init_thread returned %d", code);
	CHECK(MPI_THREAD_SINGLE < MPI_THREAD_FUNNELED && MPI_THREAD_FUNNELED < MPI_THREAD_SERIALIZED &&
		      MPI_THREAD_SERIALIZED < MPI_THREAD_MULTIPLE,
	      "the levels are not in order");
	CHECK(provided >= wanted && provided <= MPI_THREAD_MULTIPLE, "asked for %d, provided %d", wanted, provided);
	MPI_Query_thread(&level);
	CHECK(level == provided, "MPI_Query_thread says %d, not %d", level, provided);
	MPI_Is_thread_main(&is_main);
	CHECK(is_main == 1, "the main thread is not: %d", is_main);
	pthread_t thread;
	pthread_create(&thread, NULL, other, NULL);
	pthread_join(thread, NULL);
	CHECK(main_in_thread == 0, "another thread is the main thread: %d", main_in_thread);
	CHECK(level_in_thread == provided, "another thread's level is %d", level_in_thread);
	return check_end();
}
