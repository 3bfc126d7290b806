/* Proves: events reach the callbacks of tools. Each event type can be queried, and its elements have names. The
 *   creation and the freeing of a window, a long wait for a lock, and an error of the class MPI_ERR_RMA_CONFLICT raise
 *   events with the right values, increasing time stamps and a source. A handle that is bound to a window gets only
 *   this window's events. The callback of the lowest suitable safety level is called. A callback may call MPI, raise
 *   events and free its handle. Events without a suitable callback are dropped and reported. Invalid and freed handles,
 *   events outside of their callback, and wrong arguments are refused. Variables of the class TIMER count the time of
 *   waits. Several threads may raise events while others register and free. MPI-5.0 15.3.7, 15.3.8
 * np: 2
 * ref: none (the events are gompirma's)
 * timeout: 60
 */
#include "../check.h"

#include <pthread.h>
#include <unistd.h>

typedef unsigned long long number;

static const char *const types[] = {"window_created", "window_freed",    "lock_waited",   "win_lock_waited",
				    "process_failed", "connection_lost", "conflict_found"};
enum { TYPES = 7, MAX_ELEMENTS = 3 };

static int event_index(const char *name) {
	int i = -1;
	CHECK(MPI_T_event_get_index(name, &i) == MPI_SUCCESS, "no event %s", name);
	return i;
}

/* What a callback has got. */
struct seen {
	int calls, freed, dropped_calls, order; /* order: number of the last call, among all callbacks */
	MPI_Count dropped;
	number value[MAX_ELEMENTS];
	MPI_T_cb_safety safety;
	MPI_Count time;
	MPI_T_event_instance instance;
	void (*then)(struct seen *s, MPI_T_event_registration r); /* called in the callback, if not NULL */
};
static int order;

/* Reads the elements by MPI_T_event_read and by MPI_T_event_copy. */
static void read_elements(const char *name, MPI_T_event_instance e, number value[MAX_ELEMENTS]) {
	MPI_Datatype type[MAX_ELEMENTS];
	MPI_Aint offset[MAX_ELEMENTS];
	int n = MAX_ELEMENTS;
	char copy[64];
	CHECK(MPI_T_event_get_info(event_index(name), NULL, NULL, NULL, type, offset, &n, NULL, NULL, NULL, NULL,
				   NULL) == MPI_SUCCESS,
	      "info of %s", name);
	CHECK(MPI_T_event_copy(e, copy) == MPI_SUCCESS, "copying %s", name);
	for (int i = 0; i < n; i++) {
		number u = 0;
		int s = 0, size = type[i] == MPI_INT ? (int)sizeof s : (int)sizeof u;
		void *to = type[i] == MPI_INT ? (void *)&s : (void *)&u;
		CHECK(MPI_T_event_read(e, i, to) == MPI_SUCCESS, "element %d of %s", i, name);
		CHECK(memcmp(to, copy + offset[i], (size_t)size) == 0, "the copy of element %d of %s", i, name);
		value[i] = type[i] == MPI_INT ? (number)s : u;
	}
	CHECK(MPI_T_event_read(e, n, copy) == MPI_T_ERR_INVALID_INDEX, "element %d of %s", n, name);
	CHECK(MPI_T_event_read(e, 0, NULL) == MPI_T_ERR_INVALID, "reading to NULL");
	CHECK(MPI_T_event_copy(e, NULL) == MPI_T_ERR_INVALID, "copying to NULL");
}

static void note(const char *name, struct seen *s, MPI_T_event_instance e, MPI_T_event_registration r,
		 MPI_T_cb_safety safety) {
	MPI_Count time = -1;
	int source = -1, n = 0;
	s->calls++;
	s->order = ++order;
	s->safety = safety;
	s->instance = e;
	read_elements(name, e, s->value);
	CHECK(MPI_T_event_get_timestamp(e, &time) == MPI_SUCCESS && time > s->time, "time of %s: %lld after %lld", name,
	      (long long)time, (long long)s->time);
	s->time = time;
	CHECK(MPI_T_event_get_source(e, &source) == MPI_SUCCESS && source >= 0, "source of %s", name);
	CHECK(MPI_T_source_get_num(&n) == MPI_SUCCESS && source < n, "source %d of %s", source, name);
	CHECK(MPI_T_event_get_timestamp(e, NULL) == MPI_T_ERR_INVALID, "a time to NULL");
	CHECK(MPI_T_event_get_source(e, NULL) == MPI_T_ERR_INVALID, "a source to NULL");
	if (s->then != NULL)
		s->then(s, r);
}

/* A callback for each type. */
#define CALLBACK(type)                                                                                               \
	static void on_##type(MPI_T_event_instance e, MPI_T_event_registration r, MPI_T_cb_safety safety, void *s) { \
		note(#type, s, e, r, safety);                                                                        \
	}
CALLBACK(window_created)
CALLBACK(window_freed)
CALLBACK(lock_waited)
CALLBACK(win_lock_waited)
CALLBACK(conflict_found)

static void on_dropped(MPI_Count count, MPI_T_event_registration r, int source, MPI_T_cb_safety safety, void *data) {
	(void)r, (void)safety;
	struct seen *s = data;
	CHECK(source == 0 && s->calls <= 1, "source %d, %d calls", source, s->calls);
	s->dropped += count;
	s->dropped_calls++;
}

static void on_freed(MPI_T_event_registration r, MPI_T_cb_safety safety, void *data) {
	(void)safety;
	MPI_Info info;
	CHECK(MPI_T_event_handle_get_info(r, &info) == MPI_T_ERR_INVALID_HANDLE, "the handle is valid in its free");
	++*(int *)data;
}

static MPI_T_event_registration observe(const char *name, void *object, MPI_T_cb_safety safety,
					MPI_T_event_cb_function *f, void *data) {
	MPI_T_event_registration r = NULL;
	CHECK(MPI_T_event_handle_alloc(event_index(name), object, MPI_INFO_NULL, &r) == MPI_SUCCESS && r != NULL,
	      "a handle of %s", name);
	CHECK(MPI_T_event_register_callback(r, safety, MPI_INFO_NULL, data, f) == MPI_SUCCESS, "callback of %s", name);
	return r;
}

static void release(MPI_T_event_registration r) {
	int freed = 0;
	CHECK(MPI_T_event_handle_free(r, &freed, on_freed) == MPI_SUCCESS && freed == 1, "freed %d times", freed);
	CHECK(MPI_T_event_handle_free(r, &freed, on_freed) == MPI_T_ERR_INVALID_HANDLE && freed == 1, "freed twice");
}

/* --- What can be known of each type */

static void check_types(void) {
	int n = 0, sum = 0, categories = 0, members[TYPES + 1];
	CHECK(MPI_T_event_get_num(&n) == MPI_SUCCESS && n >= TYPES, "%d event types", n);
	for (int i = 0; i < n; i++) {
		char name[64], desc[200], item[64];
		int name_length = sizeof name, desc_length = sizeof desc, verbosity = 0, elements = 1, bind = -1,
		    items = 0;
		MPI_Datatype type[] = {MPI_DATATYPE_NULL, MPI_DATATYPE_NULL};
		MPI_Aint offset[] = {-1, -1};
		MPI_T_enum e = MPI_T_ENUM_NULL;
		MPI_Info info;
		CHECK(MPI_T_event_get_info(i, name, &name_length, &verbosity, type, offset, &elements, &e, &info, desc,
					   &desc_length, &bind) == MPI_SUCCESS,
		      "type %d", i);
		CHECK(event_index(name) == i, "the name %s is not unique", name);
		CHECK(desc_length > 10 && desc_length <= (int)sizeof desc, "%s: description of %d", name, desc_length);
		CHECK(verbosity == MPI_T_VERBOSITY_USER_BASIC, "verbosity of %s", name);
		CHECK(elements >= 1 && elements <= MAX_ELEMENTS && offset[0] == 0 && offset[1] == -1,
		      "%d elements of %s", elements, name);
		CHECK(type[0] != MPI_DATATYPE_NULL && type[1] == MPI_DATATYPE_NULL, "types of %s", name);
		CHECK((bind == MPI_T_BIND_MPI_WIN) == (strncmp(name, "win_", 4) == 0), "%s is bound to %d", name, bind);
		CHECK(MPI_T_enum_get_info(e, &items, NULL, NULL) == MPI_SUCCESS && items == elements, "names of %s",
		      name);
		for (int k = 0; k < items; k++) {
			int length = sizeof item, value = -1;
			CHECK(MPI_T_enum_get_item(e, k, &value, item, &length) == MPI_SUCCESS && value == k &&
				      length > 1,
			      "name %d of %s", k, name);
		}
		if (info != MPI_INFO_NULL)
			MPI_Info_free(&info);
	}
	for (int i = 0; i < TYPES; i++)
		event_index(types[i]);
	MPI_T_category_get_num(&categories);
	for (int c = 0; c < categories; c++) {
		int count = -1;
		CHECK(MPI_T_category_get_num_events(c, &count) == MPI_SUCCESS && count <= TYPES, "category %d", c);
		members[count] = -7;
		CHECK(MPI_T_category_get_events(c, count, members) == MPI_SUCCESS && members[count] == -7, "events");
		for (int i = 0; i < count; i++)
			CHECK(members[i] >= 0 && members[i] < n, "category %d lists event %d", c, members[i]);
		sum += count;
	}
	CHECK(sum == n, "%d of %d events are in categories", sum, n);
}

static void check_refused(void) {
	struct seen s = {0};
	MPI_T_event_registration r = NULL, wild = (MPI_T_event_registration)&s;
	MPI_Info info = MPI_INFO_NULL;
	int n = 0, i = event_index("window_created");
	MPI_T_event_get_num(&n);
	CHECK(MPI_T_event_get_index(NULL, &n) == MPI_T_ERR_INVALID, "the name NULL");
	CHECK(MPI_T_event_get_index("window_created", NULL) == MPI_T_ERR_INVALID, "no place for the index");
	CHECK(MPI_T_event_handle_alloc(n, NULL, info, &r) == MPI_T_ERR_INVALID_INDEX, "an index after the last");
	CHECK(MPI_T_event_handle_alloc(i, NULL, info, NULL) == MPI_T_ERR_INVALID, "no place for the handle");
	CHECK(MPI_T_event_handle_alloc(i, NULL, (MPI_Info)&s, &r) == MPI_T_ERR_INVALID, "an address as info");
	CHECK(MPI_T_event_handle_alloc(event_index("win_lock_waited"), NULL, info, &r) == MPI_T_ERR_INVALID,
	      "no window");
	CHECK(r == NULL, "a refused call stored a handle");
	CHECK(MPI_T_event_handle_alloc(i, NULL, info, &r) == MPI_SUCCESS, "a handle");
	CHECK(MPI_T_event_register_callback(r, (MPI_T_cb_safety)5, info, NULL, on_window_created) == MPI_T_ERR_INVALID,
	      "a wrong level");
	CHECK(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_NONE, (MPI_Info)&s, &s, on_window_created) ==
		      MPI_T_ERR_INVALID,
	      "an address as info");
	CHECK(MPI_T_event_callback_get_info(r, MPI_T_CB_REQUIRE_NONE, &info) == MPI_T_ERR_INVALID, "no callback");
	CHECK(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, &s, on_window_created) ==
		      MPI_SUCCESS,
	      "a callback");
	CHECK(MPI_T_event_callback_get_info(r, MPI_T_CB_REQUIRE_NONE, NULL) == MPI_T_ERR_INVALID, "no place for info");
	CHECK(MPI_T_event_callback_get_info(r, MPI_T_CB_REQUIRE_NONE, &info) == MPI_SUCCESS, "info of a callback");
	CHECK(info != MPI_INFO_NULL && MPI_Info_free(&info) == MPI_SUCCESS, "freeing the info of a callback");
	CHECK(MPI_T_event_callback_set_info(r, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL) == MPI_SUCCESS, "setting info");
	CHECK(MPI_T_event_callback_set_info(r, MPI_T_CB_REQUIRE_THREAD_SAFE, info) == MPI_T_ERR_INVALID, "no callback");
	CHECK(MPI_T_event_callback_set_info(r, MPI_T_CB_REQUIRE_NONE, (MPI_Info)&s) == MPI_T_ERR_INVALID, "an address");
	CHECK(MPI_T_event_handle_get_info(r, &info) == MPI_SUCCESS, "info of a handle");
	CHECK(info != MPI_INFO_NULL && MPI_T_event_handle_set_info(r, info) == MPI_SUCCESS, "setting info");
	CHECK(MPI_Info_free(&info) == MPI_SUCCESS, "freeing the info of a handle");
	CHECK(MPI_T_event_handle_set_info(r, (MPI_Info)&s) == MPI_T_ERR_INVALID, "an address as info");
	CHECK(MPI_T_event_handle_get_info(r, NULL) == MPI_T_ERR_INVALID, "no place for info");
	CHECK(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_NONE, info, NULL, NULL) == MPI_SUCCESS, "no callback");
	CHECK(MPI_T_event_callback_get_info(r, MPI_T_CB_REQUIRE_NONE, &info) == MPI_T_ERR_INVALID, "removed callback");
	CHECK(MPI_T_event_set_dropped_handler(r, NULL) == MPI_SUCCESS, "no handler of dropped events");
	release(r);
	CHECK(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_NONE, info, NULL, NULL) == MPI_T_ERR_INVALID_HANDLE,
	      "a freed handle");
	CHECK(MPI_T_event_set_dropped_handler(wild, NULL) == MPI_T_ERR_INVALID_HANDLE, "an address as handle");
	CHECK(MPI_T_event_copy((MPI_T_event_instance)&s, &s) == MPI_T_ERR_INVALID_HANDLE, "an address as event");
}

/* --- Windows */

static MPI_Win new_window(MPI_Comm comm) {
	MPI_Win win;
	void *base;
	MPI_Win_allocate(100, 1, MPI_INFO_NULL, comm, &base, &win);
	return win;
}

/* Uses the window that has been created, in the callback. */
static void use_window(struct seen *s, MPI_T_event_registration r) {
	(void)r;
	MPI_Win win = (MPI_Win)(uintptr_t)s->value[0];
	char buffer = 1;
	int flag = 0, *flavor;
	CHECK_OK(MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &flag));
	CHECK(flag && *flavor == (int)s->value[2], "flavor %d", *flavor);
	CHECK_OK(MPI_Win_fence(0, win));
	CHECK_OK(MPI_Put(&buffer, 1, MPI_CHAR, 0, check_rank, 1, MPI_CHAR, win));
	CHECK_OK(MPI_Win_fence(0, win));
}

static void check_windows(void) {
	struct seen created = {.then = use_window}, freed = {0}, again = {0};
	MPI_T_event_registration r = observe("window_created", NULL, MPI_T_CB_REQUIRE_NONE, on_window_created,
					     &created),
				 f = observe("window_freed", NULL, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE, on_window_freed,
					     &freed),
				 second = observe("window_created", NULL, MPI_T_CB_REQUIRE_NONE, on_window_created,
						  &again);
	MPI_Win win = new_window(MPI_COMM_WORLD);
	uintptr_t handle = (uintptr_t)win;
	CHECK(created.calls == 1 && again.calls == 1, "%d and %d windows created", created.calls, again.calls);
	CHECK(created.value[0] == handle && created.value[1] == 100 && created.value[2] == MPI_WIN_FLAVOR_ALLOCATE,
	      "window %llx of %llu bytes", created.value[0], created.value[1]);
	CHECK(created.safety == MPI_T_CB_REQUIRE_NONE, "safety %d", (int)created.safety);
	CHECK(MPI_T_event_copy(created.instance, &created.value) == MPI_T_ERR_INVALID_HANDLE, "an old event");
	CHECK(freed.calls == 0, "a window was freed");
	MPI_Win_free(&win);
	CHECK(freed.calls == 1 && freed.value[0] == handle, "window %llx was freed", freed.value[0]);
	CHECK(freed.safety == MPI_T_CB_REQUIRE_NONE, "safety %d", (int)freed.safety);
	/* of two callbacks the one with the lowest suitable level is called */
	CHECK(MPI_T_event_register_callback(f, MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_INFO_NULL, &again,
					    on_window_freed) == MPI_SUCCESS,
	      "another callback");
	win = new_window(MPI_COMM_SELF);
	MPI_Win_free(&win);
	CHECK(freed.calls == 1 && again.calls == 3, "%d and %d calls", freed.calls, again.calls);
	release(r);
	release(f);
	release(second);
	win = new_window(MPI_COMM_SELF);
	MPI_Win_free(&win);
	CHECK(created.calls == 2 && again.calls == 3, "a freed handle gets events");
}

/* Creates a window in the callback: this event needs a callback that is reentrant. */
static void create_another(struct seen *s, MPI_T_event_registration r) {
	(void)r;
	s->then = NULL;
	MPI_Win win = new_window(MPI_COMM_SELF);
	MPI_Win_free(&win);
}

static void check_dropped(void) {
	struct seen s = {.then = create_another}, safe = {0};
	MPI_T_event_registration r =
		observe("window_created", NULL, MPI_T_CB_REQUIRE_MPI_RESTRICTED, on_window_created, &s);
	CHECK(MPI_T_event_set_dropped_handler(r, on_dropped) == MPI_SUCCESS, "a handler of dropped events");
	MPI_Win win = new_window(MPI_COMM_SELF);
	CHECK(s.calls == 1 && s.dropped_calls == 0, "%d calls, %d of the handler", s.calls, s.dropped_calls);
	MPI_Win other = new_window(MPI_COMM_SELF);
	CHECK(s.calls == 2 && s.dropped_calls == 1 && s.dropped == 1, "%d calls, %d dropped", s.calls, (int)s.dropped);
	MPI_Win_free(&other);
	/* with a reentrant callback, no event is dropped */
	CHECK(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL, &safe, on_window_created) ==
		      MPI_SUCCESS,
	      "a callback");
	s.then = create_another;
	other = new_window(MPI_COMM_SELF);
	CHECK(s.calls == 3 && safe.calls == 1 && s.dropped == 1, "%d and %d calls", s.calls, safe.calls);
	CHECK(safe.safety == MPI_T_CB_REQUIRE_THREAD_SAFE && safe.order < s.order + 2, "safety %d", (int)safe.safety);
	/* the last dropped events are reported when the handle is freed */
	CHECK(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL, NULL, NULL) == MPI_SUCCESS,
	      "no callback");
	s.then = create_another;
	s.calls = 0;
	MPI_Win_free(&other);
	other = new_window(MPI_COMM_SELF);
	release(r);
	CHECK(s.dropped_calls == 2 && s.dropped == 2, "%d reports of %d dropped events", s.dropped_calls,
	      (int)s.dropped);
	MPI_Win_free(&other);
	MPI_Win_free(&win);
}

/* Frees the handle in its callback. */
static void free_handle(struct seen *s, MPI_T_event_registration r) {
	CHECK(MPI_T_event_handle_free(r, &s->freed, on_freed) == MPI_SUCCESS, "free");
	CHECK(s->freed == 0, "the handle was freed while its callback runs");
	CHECK(MPI_T_event_handle_free(r, &s->freed, on_freed) == MPI_T_ERR_INVALID_HANDLE, "free again");
}

static void check_free_in_callback(void) {
	struct seen s = {.then = free_handle};
	observe("window_created", NULL, MPI_T_CB_REQUIRE_NONE, on_window_created, &s);
	MPI_Win win = new_window(MPI_COMM_SELF);
	CHECK(s.calls == 1 && s.freed == 1, "%d calls, freed %d times", s.calls, s.freed);
	MPI_Win_free(&win);
}

/* --- Waits */

static void set_threshold(int us) {
	MPI_T_cvar_handle h;
	int i = -1, count = 0;
	CHECK(MPI_T_cvar_get_index("GOMPIRMA_LOCK_EVENT_US", &i) == MPI_SUCCESS, "no variable");
	CHECK(MPI_T_cvar_handle_alloc(i, NULL, &h, &count) == MPI_SUCCESS && count == 1, "a handle");
	CHECK(MPI_T_cvar_write(h, &us) == MPI_SUCCESS, "writing a variable");
	CHECK(MPI_T_cvar_handle_free(&h) == MPI_SUCCESS, "freeing a handle");
}

/* A lock is held for LONG_US. The waiting rank may be late by almost this time, on a machine with much load. */
enum { LONG_US = 200000, THRESHOLD_US = LONG_US / 20 };
static const number long_ns = LONG_US * 1000ULL, threshold_ns = THRESHOLD_US * 1000ULL;

/* Makes rank 1 wait for a lock that rank 0 holds for LONG_US. */
static void wait_for_lock(MPI_Win win) {
	char data = 1;
	if (check_rank == 0) {
		CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
		CHECK_OK(MPI_Put(&data, 1, MPI_CHAR, 0, 0, 1, MPI_CHAR, win));
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (check_rank == 0)
		usleep(LONG_US);
	else
		CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
	if (check_rank == 1)
		CHECK_OK(MPI_Put(&data, 1, MPI_CHAR, 0, 0, 1, MPI_CHAR, win));
	CHECK_OK(MPI_Win_unlock(0, win));
	MPI_Barrier(MPI_COMM_WORLD);
}

static void check_locks(void) {
	struct seen all = {0}, mine = {0};
	MPI_Win win = new_window(MPI_COMM_WORLD), other = new_window(MPI_COMM_WORLD);
	MPI_T_event_registration r = observe("lock_waited", NULL, MPI_T_CB_REQUIRE_MPI_RESTRICTED, on_lock_waited,
					     &all),
				 w = observe("win_lock_waited", &win, MPI_T_CB_REQUIRE_THREAD_SAFE, on_win_lock_waited,
					     &mine);
	MPI_T_event_registration none;
	MPI_Win freed = other;
	set_threshold(THRESHOLD_US);
	wait_for_lock(win);
	wait_for_lock(other);
	CHECK(all.calls == (check_rank == 1 ? 2 : 0) && mine.calls == (check_rank == 1), "%d and %d waits", all.calls,
	      mine.calls);
	if (check_rank == 1) {
		CHECK(mine.value[0] == (uintptr_t)win && all.value[0] == (uintptr_t)other, "window %llx",
		      mine.value[0]);
		CHECK(mine.value[1] == 0 && mine.value[2] >= threshold_ns && mine.value[2] < 100 * long_ns,
		      "rank %llu, %llu ns", mine.value[1], mine.value[2]);
		CHECK(all.safety == MPI_T_CB_REQUIRE_MPI_RESTRICTED, "safety %d", (int)all.safety);
	}
	set_threshold(100000000);
	wait_for_lock(win);
	CHECK(all.calls == (check_rank == 1 ? 2 : 0), "%d waits", all.calls);
	set_threshold(1000);
	MPI_Win_free(&other);
	MPI_Win_free(&win);
	CHECK(MPI_T_event_handle_alloc(event_index("win_lock_waited"), &freed, MPI_INFO_NULL, &none) ==
		      MPI_T_ERR_INVALID_HANDLE,
	      "a freed window");
	release(r);
	release(w);
}

static const char *const timers[] = {"lock_wait_time", "fence_wait_time",   "flush_wait_time",
				     "pscw_wait_time", "message_wait_time", "collective_wait_time"};
enum { LOCK, FENCE, FLUSH, PSCW, MESSAGE, COLLECTIVE, TIMERS };

static MPI_T_pvar_session session;
static MPI_T_pvar_handle timer[TIMERS];

/* Checks that rank 1 has waited since the last call, about LONG_US in a wait of this kind and less in all others. */
static void expect_wait(int kind) {
	for (int i = 0; i < TIMERS; i++) {
		number ns = 0;
		CHECK(MPI_T_pvar_readreset(session, timer[i], &ns) == MPI_SUCCESS, "reading %s", timers[i]);
		if (check_rank == 1 && i == kind)
			CHECK(ns > long_ns / 2 && ns < 100 * long_ns, "%s is %llu ns", timers[i], ns);
		else if (check_rank == 1 && i != COLLECTIVE) /* ranks meet in barriers between the checks */
			CHECK(ns < long_ns / 2, "%s is %llu ns, in a wait of kind %d", timers[i], ns, kind);
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

static void be_late(void) {
	if (check_rank == 0)
		usleep(LONG_US);
}

static void check_timers(void) {
	MPI_Win win = new_window(MPI_COMM_WORLD);
	MPI_Group group, peer;
	int data = 0, other = 1 - check_rank, count, index;
	MPI_Comm_group(MPI_COMM_WORLD, &group);
	MPI_Group_incl(group, 1, &other, &peer);
	CHECK(MPI_T_pvar_session_create(&session) == MPI_SUCCESS, "a session");
	for (int i = 0; i < TIMERS; i++) {
		CHECK(MPI_T_pvar_get_index(timers[i], MPI_T_PVAR_CLASS_TIMER, &index) == MPI_SUCCESS, "%s", timers[i]);
		CHECK(MPI_T_pvar_handle_alloc(session, index, NULL, &timer[i], &count) == MPI_SUCCESS, "%s", timers[i]);
	}
	be_late();
	MPI_Barrier(MPI_COMM_WORLD);
	number ns = 1;
	CHECK(MPI_T_pvar_read(session, timer[COLLECTIVE], &ns) == MPI_SUCCESS && ns == 0, "%llu ns before start", ns);
	CHECK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS, "start");
	MPI_Barrier(MPI_COMM_WORLD);
	be_late();
	MPI_Win_fence(0, win);
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
	expect_wait(FENCE);
	be_late();
	if (check_rank == 0)
		MPI_Send(&data, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
	else
		MPI_Recv(&data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	expect_wait(MESSAGE);
	be_late();
	MPI_Allreduce(MPI_IN_PLACE, &data, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	expect_wait(COLLECTIVE);
	be_late();
	MPI_Win_post(peer, 0, win);
	MPI_Win_start(peer, 0, win);
	MPI_Put(&data, 1, MPI_INT, other, 0, 1, MPI_INT, win);
	MPI_Win_complete(win);
	MPI_Win_wait(win);
	expect_wait(PSCW);
	wait_for_lock(win);
	expect_wait(LOCK);
	CHECK(MPI_T_pvar_session_free(&session) == MPI_SUCCESS, "freeing a session");
	MPI_Group_free(&peer);
	MPI_Group_free(&group);
	MPI_Win_free(&win);
}

/* --- Conflicts */

static void check_conflict(void) {
	struct seen s = {0};
	MPI_T_event_registration r =
		observe("conflict_found", NULL, MPI_T_CB_REQUIRE_MPI_RESTRICTED, on_conflict_found, &s);
	MPI_Win win = new_window(MPI_COMM_SELF);
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	CHECK_OK(MPI_Win_call_errhandler(win, MPI_ERR_RMA_RANGE));
	CHECK(s.calls == 0, "another error counts as conflict");
	CHECK_OK(MPI_Win_call_errhandler(win, MPI_ERR_RMA_CONFLICT));
	CHECK(s.calls == 1 && s.value[0] == 4 && s.value[1] == (uintptr_t)win, "%d conflicts, object %llx", s.calls,
	      s.value[1]);
	release(r);
	MPI_Win_free(&win);
}

/* --- Threads */

enum { THREADS = 4, ROUNDS = 50 };
static int created_by_threads;

static void count_created(MPI_T_event_instance e, MPI_T_event_registration r, MPI_T_cb_safety safety, void *unused) {
	(void)r, (void)safety, (void)unused;
	number window = 0;
	CHECK(MPI_T_event_read(e, 0, &window) == MPI_SUCCESS && window != 0, "element 0");
	__atomic_add_fetch(&created_by_threads, 1, __ATOMIC_RELAXED);
}

static void *raise_events(void *comm) {
	for (int i = 0; i < ROUNDS; i++) {
		struct seen s = {0};
		int freed = 0;
		MPI_T_event_registration r = observe("window_freed", NULL, MPI_T_CB_REQUIRE_NONE, on_window_freed, &s);
		MPI_Win win = new_window(*(MPI_Comm *)comm);
		CHECK(MPI_T_event_handle_free(r, &freed, on_freed) == MPI_SUCCESS, "free");
		MPI_Win_free(&win);
		/* the handle may still be in use by another thread, so wait for the end of its use */
		while (__atomic_load_n(&freed, __ATOMIC_ACQUIRE) == 0)
			usleep(10);
	}
	return NULL;
}

static void check_threads(void) {
	pthread_t thread[THREADS];
	MPI_Comm comm[THREADS];
	MPI_T_event_registration r = observe("window_created", NULL, MPI_T_CB_REQUIRE_THREAD_SAFE, count_created, NULL);
	for (int i = 0; i < THREADS; i++) {
		MPI_Comm_dup(MPI_COMM_SELF, &comm[i]);
		pthread_create(&thread[i], NULL, raise_events, &comm[i]);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		MPI_Comm_free(&comm[i]);
	}
	CHECK(created_by_threads == THREADS * ROUNDS, "%d windows created", created_by_threads);
	release(r);
}

int main(int argc, char **argv) {
	int provided;
	struct seen early = {0};
	CHECK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided) == MPI_SUCCESS, "initialization");
	check_types();
	check_refused();
	MPI_T_event_registration r = observe("window_created", NULL, MPI_T_CB_REQUIRE_NONE, on_window_created, &early),
				 failed = observe("process_failed", NULL, MPI_T_CB_REQUIRE_THREAD_SAFE,
						  on_window_created, &early);
	check_begin(&argc, &argv);
	MPI_Win win = new_window(MPI_COMM_WORLD);
	CHECK(early.calls == 1, "%d events of a handle from before MPI_Init", early.calls);
	release(r);
	MPI_Win_free(&win);
	check_windows();
	check_dropped();
	check_free_in_callback();
	check_locks();
	check_timers();
	check_conflict();
	check_threads();
	check_refused();
	CHECK(early.calls == 1, "a process has failed");
	release(failed);
	r = observe("window_created", NULL, MPI_T_CB_REQUIRE_NONE, on_window_created, &early);
	CHECK(MPI_T_finalize() == MPI_SUCCESS, "MPI_T_finalize");
	win = new_window(MPI_COMM_SELF);
	MPI_Win_free(&win);
	CHECK(early.calls == 1, "an event after MPI_T_finalize");
	CHECK(MPI_T_event_handle_free(r, NULL, NULL) == MPI_T_ERR_NOT_INITIALIZED, "after MPI_T_finalize");
	return check_end();
}
