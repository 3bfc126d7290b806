// Categories of the tool information interface (MPI-5.0 15.3.9). They contain variables and events, and no
// other categories. They never change.
#include <string.h>

#include "tool/tool.h"
#include "tool/z_calls.h"

static const struct {
	const char *name, *desc;
} categories[GOMPI_TOOL_CATEGORIES] = {
	[CATEGORY_RMA] = {"rma", "operations on windows by path, and defaults of windows"},
	[CATEGORY_MESSAGES] = {"messages", "messages and requests"},
	[CATEGORY_MEMORY] = {"memory", "memory of this process"},
	[CATEGORY_NETWORK] = {"network", "communication between nodes"},
	[CATEGORY_LAUNCHER] = {"launcher", "the processes of the job, and what the launcher passes to them"},
	[CATEGORY_OBJECTS] = {"objects", "numbers of MPI objects that exist"},
	[CATEGORY_PROGRESS] = {"progress", "waits, and the work of progress threads and of Go"},
	[CATEGORY_FILES] = {"files", "reads and writes of files"},
};

// What a category contains.
enum member_kind { MEMBER_CVARS, MEMBER_PVARS, MEMBER_EVENTS };

static enum gompi_tool_category category_of(enum member_kind of, int i) {
	return of == MEMBER_CVARS   ? gompi_cvars[i].category
	       : of == MEMBER_PVARS ? gompi_pvars[i].category
				    : gompi_event_types[i].category;
}

// Stores the indices of the members of a category, at most `len` of them. Returns the number of all.
static int list_members(int category, enum member_kind of, int len, int indices[]) {
	const int counts[] = {[MEMBER_CVARS] = gompi_cvar_count,
			      [MEMBER_PVARS] = gompi_pvar_count,
			      [MEMBER_EVENTS] = gompi_event_type_count};
	int n = 0;
	for (int i = 0; i < counts[of]; i++) {
		if ((int)category_of(of, i) != category)
			continue;
		if (n < len)
			indices[n] = i;
		n++;
	}
	return n;
}

int gompi_t_category_get_num(int *num_cat) { return gompi_tool_store_count(num_cat, GOMPI_TOOL_CATEGORIES); }
GOMPI_ENTRY(MPI_T_category_get_num, gompi_t_category_get_num);

int gompi_t_category_changed(int *update_number) { return gompi_tool_store_count(update_number, 0); }
GOMPI_ENTRY(MPI_T_category_changed, gompi_t_category_changed);

int gompi_t_category_get_info(int cat_index, char *name, int *name_len, char *desc, int *desc_len, int *num_cvars,
			      int *num_pvars, int *num_categories) {
	int class = gompi_tool_check_index(cat_index, GOMPI_TOOL_CATEGORIES);
	if (class != MPI_SUCCESS)
		return class;
	gompi_tool_store_text(categories[cat_index].name, name, name_len);
	gompi_tool_store_text(categories[cat_index].desc, desc, desc_len);
	gompi_tool_store(num_cvars, list_members(cat_index, MEMBER_CVARS, 0, NULL));
	gompi_tool_store(num_pvars, list_members(cat_index, MEMBER_PVARS, 0, NULL));
	gompi_tool_store(num_categories, 0);
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_T_category_get_info, gompi_t_category_get_info);

int gompi_t_category_get_index(const char *name, int *cat_index) {
	if (!gompi_tool_is_initialized())
		return MPI_T_ERR_NOT_INITIALIZED;
	if (name == NULL || cat_index == NULL)
		return MPI_T_ERR_INVALID;
	for (int i = 0; i < GOMPI_TOOL_CATEGORIES; i++)
		if (strcmp(categories[i].name, name) == 0)
			return gompi_tool_store_count(cat_index, i);
	return MPI_T_ERR_INVALID_NAME;
}
GOMPI_ENTRY(MPI_T_category_get_index, gompi_t_category_get_index);

// Checks the arguments of a function that lists the members of a category.
static int check_list(int cat_index, int len, const int indices[]) {
	int class = gompi_tool_check_index(cat_index, GOMPI_TOOL_CATEGORIES);
	if (class != MPI_SUCCESS)
		return class;
	return len >= 0 && (len == 0 || indices != NULL) ? MPI_SUCCESS : MPI_T_ERR_INVALID;
}

int gompi_t_category_get_cvars(int cat_index, int len, int indices[]) {
	int class = check_list(cat_index, len, indices);
	if (class == MPI_SUCCESS)
		list_members(cat_index, MEMBER_CVARS, len, indices);
	return class;
}
GOMPI_ENTRY(MPI_T_category_get_cvars, gompi_t_category_get_cvars);

int gompi_t_category_get_pvars(int cat_index, int len, int indices[]) {
	int class = check_list(cat_index, len, indices);
	if (class == MPI_SUCCESS)
		list_members(cat_index, MEMBER_PVARS, len, indices);
	return class;
}
GOMPI_ENTRY(MPI_T_category_get_pvars, gompi_t_category_get_pvars);

int gompi_t_category_get_categories(int cat_index, int len, int indices[]) {
	return check_list(cat_index, len, indices);
}
GOMPI_ENTRY(MPI_T_category_get_categories, gompi_t_category_get_categories);

int gompi_t_category_get_num_events(int cat_index, int *num_events) {
	int class = gompi_tool_check_index(cat_index, GOMPI_TOOL_CATEGORIES);
	return class == MPI_SUCCESS
		       ? gompi_tool_store_count(num_events, list_members(cat_index, MEMBER_EVENTS, 0, NULL))
		       : class;
}
GOMPI_ENTRY(MPI_T_category_get_num_events, gompi_t_category_get_num_events);

int gompi_t_category_get_events(int cat_index, int len, int indices[]) {
	int class = check_list(cat_index, len, indices);
	if (class == MPI_SUCCESS)
		list_members(cat_index, MEMBER_EVENTS, len, indices);
	return class;
}
GOMPI_ENTRY(MPI_T_category_get_events, gompi_t_category_get_events);
