// What the files of the tool information interface share, and enumerations (MPI-5.0 15.3.5).
#include "tool/tool.h"

#include <string.h>

#include "comm/comm.h"
#include "file/file.h"
#include "tool/z_calls.h"
#include "win/win.h"

const struct gompi_tool_enum gompi_tool_enums[GOMPI_TOOL_ENUMS] = {
	[ENUM_BOOL] = {"bool", 2, {"false", "true"}},
	[ENUM_SHARE_IN_PLACE] = {"share_in_place", 3, {"false", "true", "require"}},
	[ENUM_MPI_STATE] = {"mpi_state", 3, {"not_started", "running", "finalized"}},
	[ENUM_WINDOW_CREATED] = {"window_created", 3, {"window", "bytes", "flavor"}},
	[ENUM_WINDOW_FREED] = {"window_freed", 1, {"window"}},
	[ENUM_LOCK_WAITED] = {"lock_waited", 3, {"window", "rank", "nanoseconds"}},
	[ENUM_PROCESS_FAILED] = {"process_failed", 2, {"process", "cause"}},
	[ENUM_CONNECTION_LOST] = {"connection_lost", 1, {"process"}},
	[ENUM_CONFLICT_FOUND] = {"conflict_found", 2, {"kind", "object"}},
};

struct gompi_mutex gompi_tool_mutex;
gompi_a32 gompi_tool_users;

bool gompi_tool_is_initialized(void) { return gompi_load(&gompi_tool_users) != 0; }

bool gompi_tool_lock(void) {
	gompi_mutex_lock(&gompi_tool_mutex);
	if (gompi_tool_is_initialized())
		return true;
	gompi_mutex_unlock(&gompi_tool_mutex);
	return false;
}

void gompi_tool_unlock(void) { gompi_mutex_unlock(&gompi_tool_mutex); }

int gompi_tool_find_object(int bind, const void *obj_handle, uintptr_t *object) {
	*object = 0;
	if (bind == MPI_T_BIND_NO_OBJECT)
		return MPI_SUCCESS;
	if (obj_handle == NULL)
		return MPI_T_ERR_INVALID;
	memcpy(object, obj_handle, sizeof *object); // all handles of MPI are pointers
	const void *found = bind == MPI_T_BIND_MPI_WIN    ? (const void *)gompi_win_get((MPI_Win)*object)
			    : bind == MPI_T_BIND_MPI_FILE ? (const void *)gompi_file_get((MPI_File)*object)
							  : (const void *)gompi_comm_get((MPI_Comm)*object);
	return found == NULL ? MPI_T_ERR_INVALID_HANDLE : MPI_SUCCESS;
}

int gompi_tool_check_index(int index, int count) {
	if (!gompi_tool_is_initialized())
		return MPI_T_ERR_NOT_INITIALIZED;
	return index >= 0 && index < count ? MPI_SUCCESS : MPI_T_ERR_INVALID_INDEX;
}

int gompi_tool_store_count(int *to, int count) {
	if (!gompi_tool_is_initialized())
		return MPI_T_ERR_NOT_INITIALIZED;
	if (to == NULL)
		return MPI_T_ERR_INVALID;
	*to = count;
	return MPI_SUCCESS;
}

void gompi_tool_store_text(const char *text, char *to, int *length) {
	if (length == NULL)
		return;
	size_t bytes = strlen(text) + 1;
	if (to != NULL && *length > 0) {
		size_t copied = bytes <= (size_t)*length ? bytes - 1 : (size_t)*length - 1;
		memcpy(to, text, copied * sizeof *to);
		to[copied] = 0;
	}
	*length = (int)bytes;
}

// Stores the enumeration that a handle denotes. Returns MPI_SUCCESS or an error class.
static int find_enum(MPI_T_enum handle, const struct gompi_tool_enum **found) {
	if (!gompi_tool_is_initialized())
		return MPI_T_ERR_NOT_INITIALIZED;
	for (int i = 0; i < GOMPI_TOOL_ENUMS; i++)
		if ((uintptr_t)handle == (uintptr_t)&gompi_tool_enums[i]) {
			*found = &gompi_tool_enums[i];
			return MPI_SUCCESS;
		}
	return MPI_T_ERR_INVALID_HANDLE;
}

int gompi_t_enum_get_info(MPI_T_enum enumtype, int *num, char *name, int *name_len) {
	const struct gompi_tool_enum *e;
	int class = find_enum(enumtype, &e);
	if (class != MPI_SUCCESS)
		return class;
	gompi_tool_store(num, e->count);
	gompi_tool_store_text(e->name, name, name_len);
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_T_enum_get_info, gompi_t_enum_get_info);

int gompi_t_enum_get_item(MPI_T_enum enumtype, int indx, int *value, char *name, int *name_len) {
	const struct gompi_tool_enum *e;
	int class = find_enum(enumtype, &e);
	if (class == MPI_SUCCESS)
		class = gompi_tool_check_index(indx, e->count);
	if (class != MPI_SUCCESS)
		return class;
	gompi_tool_store(value, indx);
	gompi_tool_store_text(e->items[indx], name, name_len);
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_T_enum_get_item, gompi_t_enum_get_item);
