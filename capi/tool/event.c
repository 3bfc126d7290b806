// Events and their sources (MPI-5.0 15.3.8). There is one source, the monotonic clock. The code that detects an event
// raises it (base/event.h), and this file calls the callbacks that tools have registered.
#include <string.h>

#include "base/clock.h"
#include "base/event.h"
#include "base/in_go.h"
#include "base/wait_time.h"
#include "info/info.h"
#include "tool/tool.h"
#include "tool/z_calls.h"

enum { SOURCE_COUNT = 1 };

int gompi_t_source_get_num(int *num_sources) { return gompi_tool_store_count(num_sources, SOURCE_COUNT); }
GOMPI_ENTRY(MPI_T_source_get_num, gompi_t_source_get_num);

int gompi_t_source_get_info(int source_index, char *name, int *name_len, char *desc, int *desc_len,
			    MPI_T_source_order *ordering, MPI_Count *ticks_per_second, MPI_Count *max_ticks,
			    MPI_Info *info) {
	int class = gompi_tool_check_index(source_index, SOURCE_COUNT);
	if (class != MPI_SUCCESS)
		return class;
	gompi_tool_store_text("monotonic_clock", name, name_len);
	gompi_tool_store_text("CLOCK_MONOTONIC, which all processes of a node share", desc, desc_len);
	if (ordering != NULL)
		*ordering = MPI_T_SOURCE_UNORDERED; // several threads may call callbacks at the same time
	if (ticks_per_second != NULL)
		*ticks_per_second = 1000000000;
	if (max_ticks != NULL)
		*max_ticks = INT64_MAX;
	if (info != NULL)
		*info = MPI_INFO_NULL;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_T_source_get_info, gompi_t_source_get_info);

int gompi_t_source_get_timestamp(int source_index, MPI_Count *timestamp) {
	int class = gompi_tool_check_index(source_index, SOURCE_COUNT);
	if (class != MPI_SUCCESS)
		return class;
	if (timestamp == NULL)
		return MPI_T_ERR_INVALID;
	*timestamp = gompi_now_ns();
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_T_source_get_timestamp, gompi_t_source_get_timestamp);

// --- Event types

// New types are added at the end, since tools may keep an index. docs/INSIGHT.md lists the names.
const struct gompi_event_type gompi_event_types[] = {
	{"window_created",
	 "a window has been created: handle, bytes of this process' memory, flavor",
	 CATEGORY_RMA,
	 EVENT_WINDOW_CREATED,
	 MPI_T_BIND_NO_OBJECT,
	 ENUM_WINDOW_CREATED,
	 {false, false, true}},
	{"window_freed",
	 "a window has been freed: handle",
	 CATEGORY_RMA,
	 EVENT_WINDOW_FREED,
	 MPI_T_BIND_NO_OBJECT,
	 ENUM_WINDOW_FREED,
	 {false}},
	{"lock_waited",
	 "a thread has waited for a lock for at least GOMPIRMA_LOCK_EVENT_US: window, rank of the member, nanoseconds",
	 CATEGORY_RMA,
	 EVENT_LOCK_WAITED,
	 MPI_T_BIND_NO_OBJECT,
	 ENUM_LOCK_WAITED,
	 {false, true, false}},
	{"win_lock_waited",
	 "a thread has waited for a lock of one window for at least GOMPIRMA_LOCK_EVENT_US: window, rank of the "
	 "member, nanoseconds",
	 CATEGORY_RMA,
	 EVENT_LOCK_WAITED,
	 MPI_T_BIND_MPI_WIN,
	 ENUM_LOCK_WAITED,
	 {false, true, false}},
	{"process_failed",
	 "this process has noticed that a process has failed: number of the process, cause",
	 CATEGORY_LAUNCHER,
	 EVENT_PROCESS_FAILED,
	 MPI_T_BIND_NO_OBJECT,
	 ENUM_PROCESS_FAILED,
	 {true, true}},
	{"connection_lost",
	 "this process can no longer reach a process of another node: number of the process",
	 CATEGORY_NETWORK,
	 EVENT_CONNECTION_LOST,
	 MPI_T_BIND_NO_OBJECT,
	 ENUM_CONNECTION_LOST,
	 {true}},
	{"conflict_found",
	 "the error handler of an object is called with MPI_ERR_RMA_CONFLICT, as by gompirun --check=error: kind of "
	 "the object (0 none, 2 communicator, 4 window), handle",
	 CATEGORY_RMA,
	 EVENT_CONFLICT_FOUND,
	 MPI_T_BIND_NO_OBJECT,
	 ENUM_CONFLICT_FOUND,
	 {true, false}},
};
const int gompi_event_type_count = GOMPI_ARRAY_LENGTH(gompi_event_types);

static int element_count(const struct gompi_event_type *t) { return gompi_tool_enums[t->elements].count; }
static MPI_Datatype element_type(const struct gompi_event_type *t, int i) {
	return t->is_int[i] ? MPI_INT : MPI_UNSIGNED_LONG_LONG;
}

int gompi_t_event_get_num(int *num_events) { return gompi_tool_store_count(num_events, gompi_event_type_count); }
GOMPI_ENTRY(MPI_T_event_get_num, gompi_t_event_get_num);

int gompi_t_event_get_index(const char *name, int *event_index) {
	if (!gompi_tool_is_initialized())
		return MPI_T_ERR_NOT_INITIALIZED;
	if (name == NULL || event_index == NULL)
		return MPI_T_ERR_INVALID;
	for (int i = 0; i < gompi_event_type_count; i++)
		if (strcmp(gompi_event_types[i].name, name) == 0)
			return gompi_tool_store_count(event_index, i);
	return MPI_T_ERR_INVALID_NAME;
}
GOMPI_ENTRY(MPI_T_event_get_index, gompi_t_event_get_index);

// Returns the offset of element i in the buffer of MPI_T_event_copy.
static size_t element_offset(int i) { return (size_t)i * sizeof(unsigned long long); }

int gompi_t_event_get_info(int event_index, char *name, int *name_len, int *verbosity,
			   MPI_Datatype array_of_datatypes[], MPI_Aint array_of_displacements[], int *num_elements,
			   MPI_T_enum *enumtype, MPI_Info *info, char *desc, int *desc_len, int *bind) {
	int class = gompi_tool_check_index(event_index, gompi_event_type_count);
	if (class != MPI_SUCCESS)
		return class;
	const struct gompi_event_type *t = &gompi_event_types[event_index];
	gompi_tool_store_text(t->name, name, name_len);
	gompi_tool_store(verbosity, MPI_T_VERBOSITY_USER_BASIC);
	for (int i = 0; num_elements != NULL && i < *num_elements && i < element_count(t); i++) {
		if (array_of_datatypes != NULL)
			array_of_datatypes[i] = element_type(t, i);
		if (array_of_displacements != NULL)
			array_of_displacements[i] = (MPI_Aint)element_offset(i);
	}
	gompi_tool_store(num_elements, element_count(t));
	if (enumtype != NULL)
		*enumtype = (MPI_T_enum)(uintptr_t)&gompi_tool_enums[t->elements];
	if (info != NULL)
		*info = MPI_INFO_NULL;
	gompi_tool_store_text(t->desc, desc, desc_len);
	gompi_tool_store(bind, t->bind);
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_T_event_get_info, gompi_t_event_get_info);

// --- Registrations (the handles of events)

// The safety levels, in increasing order. A callback of a level is suitable for the requirements up to this level.
static const MPI_T_cb_safety levels[] = {MPI_T_CB_REQUIRE_NONE, MPI_T_CB_REQUIRE_MPI_RESTRICTED,
					 MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE};
enum { LEVELS = 4, FIRST_THREAD_SAFE_LEVEL = 2 };

struct event_callback {
	MPI_T_event_cb_function *function; // NULL if none is registered
	void *user_data;
};

struct registration {
	uintptr_t handle;
	const struct gompi_event_type *type;
	uintptr_t window; // the handle's window if the type is bound to windows
	struct event_callback callback[LEVELS];
	MPI_T_event_dropped_cb_function *on_dropped;
	MPI_Count dropped_count; // events without a suitable callback that have not been reported to on_dropped
	// A registration that is freed while `pins` is above 0 stays in the list. The last unpin removes it.
	int pins;
	bool is_freed;
	MPI_T_event_free_cb_function *on_freed;
	void *on_freed_data;
	struct registration *next;
};

// The lock of the interface guards these and all registrations. It is not held while a callback runs.
static struct gompi_object_pool event_pool = GOMPI_OBJECT_POOL(KIND_TOOL_EVENT, struct registration);
static struct registration *registrations;
static int serial_callbacks; // number of running callbacks of levels below FIRST_THREAD_SAFE_LEVEL

// An event in a callback. MPI_T_event_instance is its address.
struct instance {
	const struct gompi_event *event;
	const struct gompi_event_type *type;
	MPI_Count time;
	struct instance *outer; // of the callback that has raised this event, in the same thread
};
static _Thread_local struct instance *current_instance;

// Returns the index of a safety level, or -1 if the value is invalid.
static int level_index(MPI_T_cb_safety safety) {
	for (int i = 0; i < LEVELS; i++)
		if (levels[i] == safety)
			return i;
	return -1;
}

static bool has_callback(const struct registration *r) {
	for (int i = 0; i < LEVELS; i++)
		if (r->callback[i].function != NULL)
			return true;
	return false;
}

// Updates the kinds of events that are raised, after a change of callbacks or registrations.
static void update_observed(void) {
	uint32_t observed = 0;
	for (const struct registration *r = registrations; r != NULL; r = r->next)
		if (!r->is_freed && has_callback(r))
			observed |= 1u << r->type->kind;
	const uint32_t lock = 1u << EVENT_LOCK_WAITED, changed = gompi_load(&gompi_events_observed) ^ observed;
	if (changed & observed & 1u << EVENT_PROCESS_FAILED)
		gompi_failure_events_start();
	gompi_store(&gompi_events_observed, observed);
	if (changed & observed & lock)
		gompi_add(&gompi_wait_times_requested, 1);
	else if (changed & lock)
		gompi_sub(&gompi_wait_times_requested, 1);
}

// Releases a pin. Removes the registration if it has been freed and has no other pin. Unlocks the interface while the
// tool's function runs.
static void unpin(struct registration *r) {
	if (--r->pins > 0 || !r->is_freed)
		return;
	struct registration **at = &registrations;
	while (*at != r)
		at = &(*at)->next;
	*at = r->next;
	const struct registration old = *r;
	gompi_pool_free(&event_pool, r);
	if (old.on_freed == NULL)
		return;
	gompi_mutex_unlock(&gompi_tool_mutex);
	old.on_freed((MPI_T_event_registration)old.handle, MPI_T_CB_REQUIRE_NONE, old.on_freed_data);
	gompi_mutex_lock(&gompi_tool_mutex);
}

// Reports the dropped events of a pinned registration to the tool. The user data are those of the callback of `level`.
static void report_dropped(struct registration *r, int level, MPI_T_cb_safety safety) {
	MPI_T_event_dropped_cb_function *on_dropped = r->on_dropped;
	const MPI_Count count = r->dropped_count;
	void *user_data = r->callback[level].user_data;
	if (on_dropped == NULL || count == 0)
		return;
	r->dropped_count = 0;
	gompi_mutex_unlock(&gompi_tool_mutex);
	on_dropped(count, (MPI_T_event_registration)r->handle, 0, safety, user_data);
	gompi_mutex_lock(&gompi_tool_mutex);
}

// Calls the callback of a pinned registration that has the lowest suitable level. Drops the event if no callback is
// suitable. Callbacks of the levels below THREAD_SAFE need not be reentrant. So while one of them runs, other events
// need a callback that is thread-safe.
static void call_tool(struct registration *r, struct instance *i) {
	int least = level_index((MPI_T_cb_safety)i->event->safety);
	if (serial_callbacks > 0 && least < FIRST_THREAD_SAFE_LEVEL)
		least = FIRST_THREAD_SAFE_LEVEL;
	int level = least;
	while (level < LEVELS && r->callback[level].function == NULL)
		level++;
	if (level == LEVELS) {
		r->dropped_count++;
		return;
	}
	const struct event_callback c = r->callback[level];
	const bool is_serial = level < FIRST_THREAD_SAFE_LEVEL;
	i->type = r->type;
	serial_callbacks += is_serial;
	report_dropped(r, level, levels[least]);
	gompi_mutex_unlock(&gompi_tool_mutex);
	c.function((MPI_T_event_instance)i, (MPI_T_event_registration)r->handle, levels[least], c.user_data);
	gompi_mutex_lock(&gompi_tool_mutex);
	serial_callbacks -= is_serial;
}

static bool is_concerned(const struct registration *r, const struct gompi_event *e) {
	return !r->is_freed && r->type->kind == e->kind && has_callback(r) &&
	       (r->type->bind == MPI_T_BIND_NO_OBJECT || r->window == e->value[0]);
}

// Implements the observer of base/event.h.
static void deliver_event(const struct gompi_event *e) {
	struct instance i = {.event = e, .time = gompi_now_ns(), .outer = current_instance};
	const bool was_in_go = gompi_leave_go(); // a callback may call MPI_Abort
	current_instance = &i;
	gompi_mutex_lock(&gompi_tool_mutex);
	if (registrations != NULL)
		registrations->pins++;
	for (struct registration *r = registrations, *next; r != NULL; r = next) {
		if (is_concerned(r, e))
			call_tool(r, &i);
		next = r->next;
		if (next != NULL)
			next->pins++; // before the interface is unlocked, so that it stays in the list
		unpin(r);
	}
	gompi_mutex_unlock(&gompi_tool_mutex);
	current_instance = i.outer;
	gompi_return_to_go(was_in_go);
}

// Returns true if the handle is an info object or MPI_INFO_NULL. No hints are defined, so hints are ignored.
static bool is_info(MPI_Info info) { return info == MPI_INFO_NULL || gompi_info_exists(info); }

int gompi_t_event_handle_alloc(int event_index, void *obj_handle, MPI_Info info,
			       MPI_T_event_registration *event_registration) {
	int class = gompi_tool_check_index(event_index, gompi_event_type_count);
	if (class != MPI_SUCCESS)
		return class;
	const struct gompi_event_type *t = &gompi_event_types[event_index];
	if (event_registration == NULL || !is_info(info))
		return MPI_T_ERR_INVALID;
	uintptr_t window;
	if ((class = gompi_tool_find_object(t->bind, obj_handle, &window)) != MPI_SUCCESS)
		return class;
	if (!gompi_tool_lock())
		return MPI_T_ERR_NOT_INITIALIZED;
	struct registration *r = gompi_pool_alloc(&event_pool);
	uintptr_t new = r == NULL ? 0 : gompi_handles_add(&event_pool.handles, r);
	if (new != 0) {
		*r = (struct registration){.handle = new, .type = t, .window = window, .next = registrations};
		registrations = r;
		gompi_event_set_observer(deliver_event);
		*event_registration = (MPI_T_event_registration) new;
	} else if (r != NULL) {
		gompi_pool_free(&event_pool, r);
	}
	gompi_tool_unlock();
	return new == 0 ? MPI_T_ERR_OUT_OF_HANDLES : MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_T_event_handle_alloc, gompi_t_event_handle_alloc);

// Acquires the lock of the interface and stores the object of a handle. Returns MPI_SUCCESS, or an error class without
// the lock.
static int lock_registration(MPI_T_event_registration handle, struct registration **r) {
	if (!gompi_tool_lock())
		return MPI_T_ERR_NOT_INITIALIZED;
	*r = gompi_tool_find(&event_pool, (uintptr_t)handle);
	if (*r != NULL)
		return MPI_SUCCESS;
	gompi_tool_unlock();
	return MPI_T_ERR_INVALID_HANDLE;
}

// Frees a registration as soon as no callback of it runs. Reports its dropped events before.
static void free_registration(struct registration *r, MPI_T_event_free_cb_function *on_freed, void *user_data) {
	r->pins++;
	gompi_handles_remove(&event_pool.handles, r->handle);
	int level = 0; // of the callback whose user data the report gets
	while (level < LEVELS - 1 && r->callback[level].function == NULL)
		level++;
	r->is_freed = true;
	r->on_freed = on_freed;
	r->on_freed_data = user_data;
	update_observed();
	report_dropped(r, level, MPI_T_CB_REQUIRE_NONE);
	unpin(r);
}

void gompi_event_registrations_free(void) {
	for (;;) {
		struct registration *r = registrations;
		while (r != NULL && r->is_freed)
			r = r->next;
		if (r == NULL)
			return;
		free_registration(r, NULL, NULL);
	}
}

int gompi_t_event_handle_free(MPI_T_event_registration event_registration, void *user_data,
			      MPI_T_event_free_cb_function free_cb_function) {
	struct registration *r;
	int class = lock_registration(event_registration, &r);
	if (class != MPI_SUCCESS)
		return class;
	free_registration(r, free_cb_function, user_data);
	gompi_tool_unlock();
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_T_event_handle_free, gompi_t_event_handle_free);

// Returns MPI_SUCCESS, or the error class for a handle that is invalid.
static int check_registration(MPI_T_event_registration handle) {
	struct registration *r;
	int class = lock_registration(handle, &r);
	if (class == MPI_SUCCESS)
		gompi_tool_unlock();
	return class;
}

// Creates an info object without keys.
static int store_no_hints(MPI_Info *info_used) {
	struct gompi_error_status ignored;
	if (info_used == NULL)
		return MPI_T_ERR_INVALID;
	return gompi_info_finish(gompi_info_begin(), info_used, &ignored) == MPI_SUCCESS ? MPI_SUCCESS
											 : MPI_T_ERR_MEMORY;
}

int gompi_t_event_handle_set_info(MPI_T_event_registration event_registration, MPI_Info info) {
	int class = check_registration(event_registration);
	return class == MPI_SUCCESS && !is_info(info) ? MPI_T_ERR_INVALID : class;
}
GOMPI_ENTRY(MPI_T_event_handle_set_info, gompi_t_event_handle_set_info);

int gompi_t_event_handle_get_info(MPI_T_event_registration event_registration, MPI_Info *info_used) {
	int class = check_registration(event_registration);
	return class == MPI_SUCCESS ? store_no_hints(info_used) : class;
}
GOMPI_ENTRY(MPI_T_event_handle_get_info, gompi_t_event_handle_get_info);

int gompi_t_event_register_callback(MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety,
				    MPI_Info info, void *user_data, MPI_T_event_cb_function event_cb_function) {
	struct registration *r;
	int class = lock_registration(event_registration, &r), level = level_index(cb_safety);
	if (class != MPI_SUCCESS)
		return class;
	if (level < 0 || !is_info(info)) {
		class = MPI_T_ERR_INVALID;
	} else {
		r->callback[level] = (struct event_callback){event_cb_function, user_data};
		update_observed();
	}
	gompi_tool_unlock();
	return class;
}
GOMPI_ENTRY(MPI_T_event_register_callback, gompi_t_event_register_callback);

// Returns MPI_T_ERR_INVALID if the handle has no callback of this level.
static int check_callback(MPI_T_event_registration handle, MPI_T_cb_safety cb_safety) {
	struct registration *r;
	int class = lock_registration(handle, &r), level = level_index(cb_safety);
	if (class != MPI_SUCCESS)
		return class;
	if (level < 0 || r->callback[level].function == NULL)
		class = MPI_T_ERR_INVALID;
	gompi_tool_unlock();
	return class;
}

int gompi_t_event_callback_set_info(MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety,
				    MPI_Info info) {
	int class = check_callback(event_registration, cb_safety);
	return class == MPI_SUCCESS && !is_info(info) ? MPI_T_ERR_INVALID : class;
}
GOMPI_ENTRY(MPI_T_event_callback_set_info, gompi_t_event_callback_set_info);

int gompi_t_event_callback_get_info(MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety,
				    MPI_Info *info_used) {
	int class = check_callback(event_registration, cb_safety);
	return class == MPI_SUCCESS ? store_no_hints(info_used) : class;
}
GOMPI_ENTRY(MPI_T_event_callback_get_info, gompi_t_event_callback_get_info);

int gompi_t_event_set_dropped_handler(MPI_T_event_registration event_registration,
				      MPI_T_event_dropped_cb_function dropped_cb_function) {
	struct registration *r;
	int class = lock_registration(event_registration, &r);
	if (class != MPI_SUCCESS)
		return class;
	r->on_dropped = dropped_cb_function;
	gompi_tool_unlock();
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_T_event_set_dropped_handler, gompi_t_event_set_dropped_handler);

// --- Events in callbacks

// Stores the event that a handle denotes. The handle is valid only in the callback that got it, and in its thread.
static int find_instance(MPI_T_event_instance handle, const struct instance **found) {
	if (!gompi_tool_is_initialized())
		return MPI_T_ERR_NOT_INITIALIZED;
	for (const struct instance *i = current_instance; i != NULL; i = i->outer)
		if ((uintptr_t)i == (uintptr_t)handle) {
			*found = i;
			return MPI_SUCCESS;
		}
	return MPI_T_ERR_INVALID_HANDLE;
}

static void store_element(const struct instance *i, int element, void *to) {
	const unsigned long long value = i->event->value[element];
	if (i->type->is_int[element])
		*(int *)to = (int)value;
	else
		*(unsigned long long *)to = value;
}

int gompi_t_event_read(MPI_T_event_instance event_instance, int element_index, void *buffer) {
	const struct instance *i;
	int class = find_instance(event_instance, &i);
	if (class == MPI_SUCCESS)
		class = gompi_tool_check_index(element_index, element_count(i->type));
	if (class == MPI_SUCCESS && buffer == NULL)
		class = MPI_T_ERR_INVALID;
	if (class == MPI_SUCCESS)
		store_element(i, element_index, buffer);
	return class;
}
GOMPI_ENTRY(MPI_T_event_read, gompi_t_event_read);

int gompi_t_event_copy(MPI_T_event_instance event_instance, void *buffer) {
	const struct instance *i;
	int class = find_instance(event_instance, &i);
	if (class == MPI_SUCCESS && buffer == NULL)
		class = MPI_T_ERR_INVALID;
	for (int k = 0; class == MPI_SUCCESS && k < element_count(i->type); k++)
		store_element(i, k, (char *)buffer + element_offset(k));
	return class;
}
GOMPI_ENTRY(MPI_T_event_copy, gompi_t_event_copy);

int gompi_t_event_get_timestamp(MPI_T_event_instance event_instance, MPI_Count *event_timestamp) {
	const struct instance *i;
	int class = find_instance(event_instance, &i);
	if (class == MPI_SUCCESS && event_timestamp == NULL)
		class = MPI_T_ERR_INVALID;
	if (class == MPI_SUCCESS)
		*event_timestamp = i->time;
	return class;
}
GOMPI_ENTRY(MPI_T_event_get_timestamp, gompi_t_event_get_timestamp);

int gompi_t_event_get_source(MPI_T_event_instance event_instance, int *source_index) {
	const struct instance *i;
	int class = find_instance(event_instance, &i);
	if (class == MPI_SUCCESS && source_index == NULL)
		class = MPI_T_ERR_INVALID;
	if (class == MPI_SUCCESS)
		*source_index = 0;
	return class;
}
GOMPI_ENTRY(MPI_T_event_get_source, gompi_t_event_get_source);
