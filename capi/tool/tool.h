// Declarations that the files of the tool information interface share.
#ifndef GOMPI_TOOL_H
#define GOMPI_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/abi.h"
#include "base/event.h"
#include "base/mutex.h"
#include "base/object_pool.h"
#include "base/tool_counts.h"

#pragma GCC visibility push(hidden)

#define GOMPI_ARRAY_LENGTH(a) ((int)(sizeof(a) / sizeof *(a)))

// The categories, as their indices. Tools may keep an index, so new categories are added at the end.
enum gompi_tool_category {
	CATEGORY_RMA,
	CATEGORY_MESSAGES,
	CATEGORY_MEMORY,
	CATEGORY_NETWORK,
	CATEGORY_LAUNCHER,
	CATEGORY_OBJECTS,
	CATEGORY_PROGRESS,
	CATEGORY_FILES,
	GOMPI_TOOL_CATEGORIES
};

// An enumeration: the values 0 to count - 1 have names. MPI_T_enum is the address of one.
struct gompi_tool_enum {
	const char *name;
	int count;
	const char *items[3];
};
enum {
	ENUM_BOOL,
	ENUM_SHARE_IN_PLACE,
	ENUM_MPI_STATE,
	// the names of the elements of events
	ENUM_WINDOW_CREATED,
	ENUM_WINDOW_FREED,
	ENUM_LOCK_WAITED,
	ENUM_PROCESS_FAILED,
	ENUM_CONNECTION_LOST,
	ENUM_CONFLICT_FOUND,
	GOMPI_TOOL_ENUMS
};
extern const struct gompi_tool_enum gompi_tool_enums[GOMPI_TOOL_ENUMS];

// The kinds of the handles of this interface. They differ from the kinds of base/object_pool.h.
enum { KIND_TOOL_EVENT = 28, KIND_TOOL_CVAR, KIND_TOOL_PVAR, KIND_TOOL_PVAR_SESSION };

// A control variable (cvar.c).
struct gompi_cvar {
	const char *name; // the name of an environment variable
	const char *desc;
	const char *fallback; // value if the environment variable is not set
	// CVAR_TEXT: the value is a text. CVAR_FLAG: true if the environment variable is 1. CVAR_HINT: default of an
	// info key (win/hints.h), which can be written. CVAR_TIME: microseconds, which can be written
	enum { CVAR_TEXT, CVAR_FLAG, CVAR_HINT, CVAR_TIME } kind;
	enum gompi_tool_category category;
	int verbosity;
	int hint;        // CVAR_HINT: enum gompi_default_hint
	int enumeration; // CVAR_FLAG, CVAR_HINT: index of gompi_tool_enums; ENUM_BOOL unless it is set
	gompi_a64 *ns;   // CVAR_TIME: the nanoseconds that the library uses
};
extern const struct gompi_cvar gompi_cvars[];
extern const int gompi_cvar_count;

// The MPI object to which a handle of a performance variable is bound. All fields are 0 if it is bound to no object.
struct gompi_pvar_object {
	uintptr_t handle;
	// A reference to the counters of a window (win/counts.h), a file (file/execute.h) or a communicator
	// (message/queue.h).
	struct gompi_tool_counts *counts;
	uint64_t context; // of the messages of a communicator
};

// A performance variable (pvar_table.c).
struct gompi_pvar {
	const char *name, *desc;
	enum gompi_tool_category category;
	int verbosity, class, bind;
	// Stores the current value and returns true. Returns false if the value does not exist, because MPI is not
	// running, or because the object does not exist.
	bool (*sample)(const struct gompi_pvar *p, const struct gompi_pvar_object *o, uint64_t *value);
	size_t arg;          // argument of `sample`
	gompi_a32 *requests; // number of requests to update the variable; NULL if it is always up to date
};
extern const struct gompi_pvar gompi_pvars[];
extern const int gompi_pvar_count;

// Stores the object of the kind `bind` to which obj_handle points (gompi_tool_find_object), with a reference to its
// counters. Returns MPI_SUCCESS or the error class. The caller holds the lock.
int gompi_pvar_bind(int bind, const void *obj_handle, struct gompi_pvar_object *o);

// An event type (event.c).
struct gompi_event_type {
	const char *name, *desc;
	enum gompi_tool_category category;
	enum gompi_event_kind kind;
	int bind;
	int elements;                    // index of the gompi_tool_enums with the names of the elements
	bool is_int[GOMPI_EVENT_VALUES]; // element i is an MPI_INT, else an MPI_UNSIGNED_LONG_LONG
};
extern const struct gompi_event_type gompi_event_types[];
extern const int gompi_event_type_count;

// Starts to raise EVENT_PROCESS_FAILED, for processes that fail from now on. The caller holds the lock.
void gompi_failure_events_start(void);

// Returns true if the handles of a variable are started and stopped, and count from 0. The other variables are
// continuous and read-only: their value is a property of the process at the time of the read.
static inline bool gompi_pvar_counts(const struct gompi_pvar *p) {
	return p->class == MPI_T_PVAR_CLASS_COUNTER || p->class == MPI_T_PVAR_CLASS_AGGREGATE ||
	       p->class == MPI_T_PVAR_CLASS_TIMER;
}

// Returns the object of a handle, or NULL. The null handles of this interface are 0, which is no valid argument of
// gompi_table_get.
static inline void *gompi_tool_find(struct gompi_object_pool *pool, uintptr_t handle) {
	return handle == 0 ? NULL : gompi_table_get(&pool->handles.table, handle);
}

// Guards the sessions and handles of the interface, and changes of gompi_tool_users.
extern struct gompi_mutex gompi_tool_mutex;
extern gompi_a32 gompi_tool_users; // number of MPI_T_init_thread calls without a matching MPI_T_finalize

// Returns true between MPI_T_init_thread and MPI_T_finalize.
bool gompi_tool_is_initialized(void);
// Stores the handle of the object of the kind `bind` (MPI_T_BIND_) to which obj_handle points, as tools pass it; 0 for
// MPI_T_BIND_NO_OBJECT. Returns MPI_SUCCESS, or MPI_T_ERR_INVALID if obj_handle is NULL, or MPI_T_ERR_INVALID_HANDLE if
// the object does not exist.
int gompi_tool_find_object(int bind, const void *obj_handle, uintptr_t *object);
// Returns MPI_T_ERR_NOT_INITIALIZED, or MPI_T_ERR_INVALID_INDEX unless 0 <= index < count, or MPI_SUCCESS.
int gompi_tool_check_index(int index, int count);
// Acquires gompi_tool_mutex. If the interface is not initialized, returns false without the lock.
bool gompi_tool_lock(void);
void gompi_tool_unlock(void);

// Reads the times among the control variables from the environment, at the first call. The caller holds the lock.
void gompi_cvar_times_read(void);
// Frees all handles of control variables, all sessions with their handles, and all handles of events. The caller holds
// the lock. gompi_event_registrations_free releases it while it calls functions of tools.
void gompi_cvar_handles_free(void);
void gompi_pvar_sessions_free(void);
void gompi_event_registrations_free(void);

// Stores an int unless `to` is NULL.
static inline void gompi_tool_store(int *to, int value) {
	if (to != NULL)
		*to = value;
}
// Stores a count. Returns the result of the MPI_T_..._get_num functions.
int gompi_tool_store_count(int *to, int count);
// Copies at most *length - 1 characters and a 0 to `to`, and stores the length of the text with its 0 in *length
// (MPI-5.0 15.3.3). Stores only the length if `to` is NULL or *length is 0, and nothing if `length` is NULL.
void gompi_tool_store_text(const char *text, char *to, int *length);

#pragma GCC visibility pop
#endif
