// Inquiry functions of chapters 9 and 11 that only read local state (MPI-5.0 9.1, 11.4, 11.6). MPI_Initialized,
// MPI_Finalized and the version functions may be called at any time.
#include "environment/env.h"

#include <string.h>
#include <unistd.h>

#include "base/error_status.h"
#include "base/state.h"
#include "environment/z_calls.h"

// True in the thread that called MPI_Init.
static _Thread_local bool is_main_thread __attribute__((tls_model("initial-exec")));

void gompi_state_set(bool started, bool running, bool finalized) {
	gompi_store(&gompi_state.started, started);
	gompi_store(&gompi_state.running, running);
	gompi_store(&gompi_state.finalized, finalized);
}

void gompi_set_main_thread(void) { is_main_thread = true; }

static int store_flag(const char *call, int *flag, bool value) {
	if (flag == NULL)
		return gompi_null_argument_error(call, "flag", GOMPI_ON_NONE, 0);
	*flag = value;
	return MPI_SUCCESS;
}

int gompi_initialized(int *flag) { return store_flag("MPI_Initialized", flag, gompi_load(&gompi_state.started)); }
GOMPI_ENTRY(MPI_Initialized, gompi_initialized);

int gompi_finalized(int *flag) { return store_flag("MPI_Finalized", flag, gompi_load(&gompi_state.finalized)); }
GOMPI_ENTRY(MPI_Finalized, gompi_finalized);

static int not_initialized_error(const char *call) {
	return gompi_return_error(MPI_ERR_OTHER, call, "MPI is not initialized, or has been finalized", GOMPI_ON_NONE,
				  0);
}

int gompi_query_thread(int *provided) {
	if (!gompi_load(&gompi_state.running))
		return not_initialized_error("MPI_Query_thread");
	if (provided == NULL)
		return gompi_null_argument_error("MPI_Query_thread", "provided", GOMPI_ON_NONE, 0);
	*provided = MPI_THREAD_MULTIPLE;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Query_thread, gompi_query_thread);

int gompi_is_thread_main(int *flag) {
	if (!gompi_load(&gompi_state.running))
		return not_initialized_error("MPI_Is_thread_main");
	return store_flag("MPI_Is_thread_main", flag, is_main_thread);
}
GOMPI_ENTRY(MPI_Is_thread_main, gompi_is_thread_main);

static int store_version(const char *call, int *major, int *minor, int ma, int mi) {
	if (major == NULL || minor == NULL)
		return gompi_null_argument_error(call, "an output argument", GOMPI_ON_NONE, 0);
	*major = ma;
	*minor = mi;
	return MPI_SUCCESS;
}

int gompi_get_version(int *version, int *subversion) {
	return store_version("MPI_Get_version", version, subversion, MPI_VERSION, MPI_SUBVERSION);
}
GOMPI_ENTRY(MPI_Get_version, gompi_get_version);

int gompi_abi_get_version(int *abi_major, int *abi_minor) {
	return store_version("MPI_Abi_get_version", abi_major, abi_minor, MPI_ABI_VERSION, MPI_ABI_SUBVERSION);
}
GOMPI_ENTRY(MPI_Abi_get_version, gompi_abi_get_version);

// The host's name, read when the library is loaded.
static struct {
	char name[MPI_MAX_PROCESSOR_NAME];
	size_t length;
} host;

static __attribute__((constructor)) void read_host_name(void) {
	if (gethostname(host.name, sizeof host.name - 1) != 0 || host.name[0] == 0)
		memcpy(host.name, "localhost", sizeof "localhost");
	host.length = strlen(host.name);
}

int gompi_get_processor_name(char *name, int *resultlen) {
	if (name == NULL || resultlen == NULL)
		return gompi_null_argument_error("MPI_Get_processor_name", "name or resultlen", GOMPI_ON_NONE, 0);
	memcpy(name, host.name, host.length + 1);
	*resultlen = (int)host.length;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Get_processor_name, gompi_get_processor_name);
