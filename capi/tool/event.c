// Events and their sources (MPI-5.0 15.3.8). There is one source, the monotonic clock. There are no event types, so
// each index, name or handle of an event is invalid.
#include "base/clock.h"
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
		*ordering = MPI_T_SOURCE_ORDERED;
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

int gompi_t_event_get_num(int *num_events) { return gompi_tool_store_count(num_events, 0); }
GOMPI_ENTRY(MPI_T_event_get_num, gompi_t_event_get_num);

int gompi_t_event_get_index(const char *name, int *event_index) {
	if (!gompi_tool_is_initialized())
		return MPI_T_ERR_NOT_INITIALIZED;
	return name == NULL || event_index == NULL ? MPI_T_ERR_INVALID : MPI_T_ERR_INVALID_NAME;
}
GOMPI_ENTRY(MPI_T_event_get_index, gompi_t_event_get_index);

int gompi_t_event_get_info(int event_index, char *name, int *name_len, int *verbosity,
			   MPI_Datatype array_of_datatypes[], MPI_Aint array_of_displacements[], int *num_elements,
			   MPI_T_enum *enumtype, MPI_Info *info, char *desc, int *desc_len, int *bind) {
	return gompi_tool_check_index(event_index, 0);
}
GOMPI_ENTRY(MPI_T_event_get_info, gompi_t_event_get_info);

int gompi_t_event_handle_alloc(int event_index, void *obj_handle, MPI_Info info,
			       MPI_T_event_registration *event_registration) {
	return gompi_tool_check_index(event_index, 0);
}
GOMPI_ENTRY(MPI_T_event_handle_alloc, gompi_t_event_handle_alloc);

// Returns the error of the functions below, whose first argument is a handle that cannot exist.
static int invalid_event_handle(void) {
	return gompi_tool_is_initialized() ? MPI_T_ERR_INVALID_HANDLE : MPI_T_ERR_NOT_INITIALIZED;
}

int gompi_t_event_handle_free(MPI_T_event_registration event_registration, void *user_data,
			      MPI_T_event_free_cb_function free_cb_function) {
	return invalid_event_handle();
}
GOMPI_ENTRY(MPI_T_event_handle_free, gompi_t_event_handle_free);

int gompi_t_event_handle_set_info(MPI_T_event_registration event_registration, MPI_Info info) {
	return invalid_event_handle();
}
GOMPI_ENTRY(MPI_T_event_handle_set_info, gompi_t_event_handle_set_info);

int gompi_t_event_handle_get_info(MPI_T_event_registration event_registration, MPI_Info *info_used) {
	return invalid_event_handle();
}
GOMPI_ENTRY(MPI_T_event_handle_get_info, gompi_t_event_handle_get_info);

int gompi_t_event_register_callback(MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety,
				    MPI_Info info, void *user_data, MPI_T_event_cb_function event_cb_function) {
	return invalid_event_handle();
}
GOMPI_ENTRY(MPI_T_event_register_callback, gompi_t_event_register_callback);

int gompi_t_event_callback_set_info(MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety,
				    MPI_Info info) {
	return invalid_event_handle();
}
GOMPI_ENTRY(MPI_T_event_callback_set_info, gompi_t_event_callback_set_info);

int gompi_t_event_callback_get_info(MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety,
				    MPI_Info *info_used) {
	return invalid_event_handle();
}
GOMPI_ENTRY(MPI_T_event_callback_get_info, gompi_t_event_callback_get_info);

int gompi_t_event_set_dropped_handler(MPI_T_event_registration event_registration,
				      MPI_T_event_dropped_cb_function dropped_cb_function) {
	return invalid_event_handle();
}
GOMPI_ENTRY(MPI_T_event_set_dropped_handler, gompi_t_event_set_dropped_handler);

int gompi_t_event_read(MPI_T_event_instance event_instance, int element_index, void *buffer) {
	return invalid_event_handle();
}
GOMPI_ENTRY(MPI_T_event_read, gompi_t_event_read);

int gompi_t_event_copy(MPI_T_event_instance event_instance, void *buffer) { return invalid_event_handle(); }
GOMPI_ENTRY(MPI_T_event_copy, gompi_t_event_copy);

int gompi_t_event_get_timestamp(MPI_T_event_instance event_instance, MPI_Count *event_timestamp) {
	return invalid_event_handle();
}
GOMPI_ENTRY(MPI_T_event_get_timestamp, gompi_t_event_get_timestamp);

int gompi_t_event_get_source(MPI_T_event_instance event_instance, int *source_index) { return invalid_event_handle(); }
GOMPI_ENTRY(MPI_T_event_get_source, gompi_t_event_get_source);
