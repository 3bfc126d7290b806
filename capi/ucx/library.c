#define _GNU_SOURCE
#include "ucx/library.h"

#include <dlfcn.h>
#include <stdio.h>

#include "net/library.h"

struct gompi_ucp gompi_ucp;

// Environment variables that are set while UCX starts. UCX installs no handlers of signals, which would run on the
// stack of the interrupted thread, and does not replace malloc and mmap. It writes no messages to standard output, for
// example about a process that has ended: the library reports failures itself.
static const struct gompi_library_setting settings[] = {
	{"UCX_HANDLE_ERRORS", "none"}, {"UCX_ERROR_SIGNALS", ""}, {"UCX_MEM_EVENTS", "n"},
	{"UCX_LOG_LEVEL", "fatal"},    {"UCX_TLS", "^shm"},
};
enum { SETTINGS = sizeof settings / sizeof *settings };

bool gompi_ucx_load(char error_detail[GOMPI_NET_ERROR_BYTES]) {
	static const struct {
		const char *name;
		void *where; // address of the pointer
	} functions[] = {
#define FUNCTION(name) {"ucp_" #name, &gompi_ucp.name},
		GOMPI_UCP_FUNCTIONS(FUNCTION)
#undef FUNCTION
			{"ucs_status_string", &gompi_ucp.status_string},
	};
	static bool is_loaded;
	const char *error;
	if (is_loaded)
		return true;
	void *library = gompi_library_load("libucp.so.0", settings, SETTINGS, &error);
	if (library == NULL) {
		snprintf(error_detail, GOMPI_NET_ERROR_BYTES,
			 "UCX is not installed on this node (%s): install the package libucx0 (Debian, Ubuntu) or ucx "
			 "(Fedora, RHEL, SUSE)",
			 error);
		return false;
	}
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		void *found = dlsym(library, functions[i].name);
		if (found == NULL) {
			snprintf(error_detail, GOMPI_NET_ERROR_BYTES,
				 "UCX on this node has no function %s: gompirma needs UCX 1.13 or later",
				 functions[i].name);
			return false;
		}
		*(void **)functions[i].where = found;
	}
	is_loaded = true;
	return true;
}

ucs_status_t gompi_ucx_open_context(ucp_context_h *context) {
	const ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES,
				     .features = UCP_FEATURE_AM | UCP_FEATURE_RMA | UCP_FEATURE_WAKEUP};
	struct gompi_library_start start;
	ucp_config_t *config;
	gompi_library_start_begin(&start, settings, SETTINGS);
	ucs_status_t status = gompi_ucp.config_read(NULL, NULL, &config);
	if (status == UCS_OK) {
		status = gompi_ucp.init_version(UCP_API_MAJOR, UCP_API_MINOR, &params, config, context);
		gompi_ucp.config_release(config);
	}
	gompi_library_start_end(&start);
	return status;
}
