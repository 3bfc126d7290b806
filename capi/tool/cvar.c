// Control variables (MPI-5.0 15.3.6): the environment variables of the library. They have the same names. Their
// descriptions, defaults and types come from docs/VARIABLES.md (z_variables.h).
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/node.h"
#include "base/wait_time.h"
#include "tool/tool.h"
#include "tool/z_calls.h"
#include "tool/z_variables.h"
#include "win/hints.h"

// New variables are added at the end, since tools may keep an index.
const struct gompi_cvar gompi_cvars[] = {
	{VARIABLE_GOMPIRMA_HUGE_PAGES, .category = CATEGORY_RMA, .verbosity = MPI_T_VERBOSITY_USER_BASIC,
	 .hint = HINT_HUGE_PAGES},
	{VARIABLE_GOMPIRMA_SHARE_IN_PLACE, .category = CATEGORY_RMA, .verbosity = MPI_T_VERBOSITY_USER_BASIC,
	 .hint = HINT_SHARE_IN_PLACE, .enumeration = ENUM_SHARE_IN_PLACE},
	{VARIABLE_GOMPIRMA_NO_CMA, .category = CATEGORY_MESSAGES, .verbosity = MPI_T_VERBOSITY_USER_DETAIL},
	{VARIABLE_GOMPIRMA_INTERFACE, .category = CATEGORY_NETWORK, .verbosity = MPI_T_VERBOSITY_USER_BASIC},
	{VARIABLE_GOMPIRMA_PORTS, .category = CATEGORY_NETWORK, .verbosity = MPI_T_VERBOSITY_USER_BASIC},
	{VARIABLE_GOMPIRMA_PROVIDER, .category = CATEGORY_NETWORK, .verbosity = MPI_T_VERBOSITY_USER_BASIC},
	{VARIABLE_GOMPIRMA_PEER_TIMEOUT, .category = CATEGORY_NETWORK, .verbosity = MPI_T_VERBOSITY_USER_DETAIL},
	{VARIABLE_GOMPIRMA_INITIAL_ERRHANDLER, .category = CATEGORY_LAUNCHER, .verbosity = MPI_T_VERBOSITY_USER_BASIC},
	{VARIABLE_GOMPIRMA_NODE, .category = CATEGORY_LAUNCHER, .verbosity = MPI_T_VERBOSITY_USER_DETAIL},
	{VARIABLE_GOMPIRMA_SHOW_GO, .category = CATEGORY_PROGRESS, .verbosity = MPI_T_VERBOSITY_MPIDEV_BASIC},
	{VARIABLE_GOMPIRMA_CONTROL_FD, .category = CATEGORY_LAUNCHER, .verbosity = MPI_T_VERBOSITY_MPIDEV_BASIC},
	{VARIABLE_GOMPIRMA_JOB, .category = CATEGORY_LAUNCHER, .verbosity = MPI_T_VERBOSITY_MPIDEV_BASIC},
	{VARIABLE_GOMPIRMA_FIRST, .category = CATEGORY_LAUNCHER, .verbosity = MPI_T_VERBOSITY_MPIDEV_BASIC},
	{VARIABLE_GOMPIRMA_PARENT, .category = CATEGORY_LAUNCHER, .verbosity = MPI_T_VERBOSITY_MPIDEV_BASIC},
	{VARIABLE_GOMPIRMA_FT, .category = CATEGORY_LAUNCHER, .verbosity = MPI_T_VERBOSITY_USER_BASIC},
	{VARIABLE_GOMPIRMA_LOCK_EVENT_US, .category = CATEGORY_RMA, .verbosity = MPI_T_VERBOSITY_USER_BASIC,
	 .ns = &gompi_lock_event_ns},
	{VARIABLE_GOMPIRMA_PARENT_PORT, .category = CATEGORY_LAUNCHER, .verbosity = MPI_T_VERBOSITY_MPIDEV_BASIC},
};
_Static_assert(GOMPI_ARRAY_LENGTH(gompi_cvars) == GOMPI_VARIABLES, "docs/VARIABLES.md has the same variables");
const int gompi_cvar_count = GOMPI_ARRAY_LENGTH(gompi_cvars);

struct cvar_handle {
	uintptr_t handle;
	const struct gompi_cvar *var;
	size_t length; // CVAR_TEXT: bytes of the value with its 0 when the handle was created, which is its count
	struct cvar_handle *next;
};
// The lock of the interface guards both.
static struct gompi_object_pool cvar_pool = GOMPI_OBJECT_POOL(KIND_TOOL_CVAR, struct cvar_handle);
static struct cvar_handle *cvar_handles;

static const char *text_value(const struct gompi_cvar *c) {
	const char *text = getenv(c->name);
	return text == NULL ? c->fallback : text;
}

enum { NS_PER_US = 1000 };

// Stores the microseconds that an environment variable contains. Returns MPI_T_ERR_INVALID unless they are an int that
// is not negative.
static int parse_time(const char *text, int64_t *us) {
	char *end;
	const long value = strtol(text, &end, 10);
	if (end == text || *end != 0 || value < 0 || value > INT_MAX)
		return MPI_T_ERR_INVALID;
	*us = value;
	return MPI_SUCCESS;
}

void gompi_cvar_times_read(void) {
	static bool is_read;
	for (int i = 0; i < gompi_cvar_count && !is_read; i++) {
		const struct gompi_cvar *c = &gompi_cvars[i];
		int64_t us = 0;
		if (c->kind != CVAR_TIME)
			continue;
		if (parse_time(text_value(c), &us) != MPI_SUCCESS)
			(void)parse_time(c->fallback, &us);
		gompi_store(c->ns, (uint64_t)us * NS_PER_US);
	}
	is_read = true;
}

// Stores the value of a variable that is an integer. Returns MPI_SUCCESS, or MPI_T_ERR_INVALID if the environment
// variable has an invalid value.
static int integer_value(const struct gompi_cvar *c, int *value) {
	struct gompi_error_status ignored;
	if (c->kind == CVAR_HINT)
		return gompi_hint_default(c->hint, value, &ignored) == MPI_SUCCESS ? MPI_SUCCESS : MPI_T_ERR_INVALID;
	if (c->kind == CVAR_TIME) {
		*value = (int)(gompi_load(c->ns) / NS_PER_US);
		return MPI_SUCCESS;
	}
	*value = strcmp(text_value(c), "1") == 0;
	return MPI_SUCCESS;
}

static bool is_writable(const struct gompi_cvar *c) { return c->kind == CVAR_HINT || c->kind == CVAR_TIME; }

int gompi_t_cvar_get_num(int *num_cvar) { return gompi_tool_store_count(num_cvar, gompi_cvar_count); }
GOMPI_ENTRY(MPI_T_cvar_get_num, gompi_t_cvar_get_num);

int gompi_t_cvar_get_info(int cvar_index, char *name, int *name_len, int *verbosity, MPI_Datatype *datatype,
			  MPI_T_enum *enumtype, char *desc, int *desc_len, int *bind, int *scope) {
	int class = gompi_tool_check_index(cvar_index, gompi_cvar_count);
	if (class != MPI_SUCCESS)
		return class;
	const struct gompi_cvar *c = &gompi_cvars[cvar_index];
	gompi_tool_store_text(c->name, name, name_len);
	gompi_tool_store(verbosity, c->verbosity);
	if (datatype != NULL)
		*datatype = c->kind == CVAR_TEXT ? MPI_CHAR : MPI_INT;
	if (enumtype != NULL)
		*enumtype = c->kind == CVAR_TEXT || c->kind == CVAR_TIME
				    ? MPI_T_ENUM_NULL
				    : (MPI_T_enum)(uintptr_t)&gompi_tool_enums[c->enumeration];
	gompi_tool_store_text(c->desc, desc, desc_len);
	gompi_tool_store(bind, MPI_T_BIND_NO_OBJECT);
	gompi_tool_store(scope, is_writable(c) ? MPI_T_SCOPE_LOCAL : MPI_T_SCOPE_READONLY);
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_T_cvar_get_info, gompi_t_cvar_get_info);

int gompi_t_cvar_get_index(const char *name, int *cvar_index) {
	if (!gompi_tool_is_initialized())
		return MPI_T_ERR_NOT_INITIALIZED;
	if (name == NULL || cvar_index == NULL)
		return MPI_T_ERR_INVALID;
	for (int i = 0; i < gompi_cvar_count; i++)
		if (strcmp(gompi_cvars[i].name, name) == 0)
			return gompi_tool_store_count(cvar_index, i);
	return MPI_T_ERR_INVALID_NAME;
}
GOMPI_ENTRY(MPI_T_cvar_get_index, gompi_t_cvar_get_index);

int gompi_t_cvar_handle_alloc(int cvar_index, void *obj_handle, MPI_T_cvar_handle *handle, int *count) {
	int class = gompi_tool_check_index(cvar_index, gompi_cvar_count);
	if (class != MPI_SUCCESS)
		return class;
	if (handle == NULL || count == NULL)
		return MPI_T_ERR_INVALID;
	const struct gompi_cvar *c = &gompi_cvars[cvar_index];
	if (!gompi_tool_lock())
		return MPI_T_ERR_NOT_INITIALIZED;
	struct cvar_handle *h = gompi_pool_alloc(&cvar_pool);
	uintptr_t new = h == NULL ? 0 : gompi_handles_add(&cvar_pool.handles, h);
	if (new != 0) {
		*h = (struct cvar_handle){.handle = new, .var = c, .next = cvar_handles};
		h->length = c->kind == CVAR_TEXT ? strlen(text_value(c)) + 1 : 1;
		cvar_handles = h;
		*handle = (MPI_T_cvar_handle) new;
		*count = (int)h->length;
	} else if (h != NULL) {
		gompi_pool_free(&cvar_pool, h);
	}
	gompi_tool_unlock();
	return new == 0 ? MPI_T_ERR_OUT_OF_HANDLES : MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_T_cvar_handle_alloc, gompi_t_cvar_handle_alloc);

static void free_cvar_handle(struct cvar_handle *h) {
	struct cvar_handle **at = &cvar_handles;
	while (*at != h)
		at = &(*at)->next;
	*at = h->next;
	gompi_handles_remove(&cvar_pool.handles, h->handle);
	gompi_pool_free(&cvar_pool, h);
}

void gompi_cvar_handles_free(void) {
	while (cvar_handles != NULL)
		free_cvar_handle(cvar_handles);
}

int gompi_t_cvar_handle_free(MPI_T_cvar_handle *handle) {
	if (!gompi_tool_lock())
		return MPI_T_ERR_NOT_INITIALIZED;
	struct cvar_handle *h = handle == NULL ? NULL : gompi_tool_find(&cvar_pool, (uintptr_t)*handle);
	if (h != NULL) {
		free_cvar_handle(h);
		*handle = MPI_T_CVAR_HANDLE_NULL;
	}
	gompi_tool_unlock();
	return h == NULL ? MPI_T_ERR_INVALID_HANDLE : MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_T_cvar_handle_free, gompi_t_cvar_handle_free);

// Copies the handle. Returns MPI_SUCCESS or the error class.
static int find_cvar_handle(MPI_T_cvar_handle handle, struct cvar_handle *found) {
	if (!gompi_tool_lock())
		return MPI_T_ERR_NOT_INITIALIZED;
	const struct cvar_handle *h = gompi_tool_find(&cvar_pool, (uintptr_t)handle);
	if (h != NULL)
		*found = *h;
	gompi_tool_unlock();
	return h == NULL ? MPI_T_ERR_INVALID_HANDLE : MPI_SUCCESS;
}

int gompi_t_cvar_read(MPI_T_cvar_handle handle, void *buf) {
	struct cvar_handle h;
	int class = find_cvar_handle(handle, &h), value;
	if (class != MPI_SUCCESS)
		return class;
	if (buf == NULL)
		return MPI_T_ERR_INVALID;
	if (h.var->kind == CVAR_TEXT) { // the buffer has the length that the handle's count says
		int length = (int)h.length;
		gompi_tool_store_text(text_value(h.var), buf, &length);
	} else if ((class = integer_value(h.var, &value)) == MPI_SUCCESS) {
		*(int *)buf = value;
	}
	return class;
}
GOMPI_ENTRY(MPI_T_cvar_read, gompi_t_cvar_read);

int gompi_t_cvar_write(MPI_T_cvar_handle handle, const void *buf) {
	struct cvar_handle h;
	int class = find_cvar_handle(handle, &h);
	if (class != MPI_SUCCESS)
		return class;
	if (!is_writable(h.var))
		return MPI_T_ERR_CVAR_SET_NEVER;
	if (buf == NULL || *(const int *)buf < 0 ||
	    (h.var->kind == CVAR_HINT && *(const int *)buf >= gompi_tool_enums[h.var->enumeration].count))
		return MPI_T_ERR_INVALID;
	if (h.var->kind == CVAR_HINT)
		gompi_hint_set_default(h.var->hint, *(const int *)buf);
	else
		gompi_store(h.var->ns, (uint64_t)(*(const int *)buf) * NS_PER_US);
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_T_cvar_write, gompi_t_cvar_write);
