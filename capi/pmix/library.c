#define _GNU_SOURCE
#include "pmix/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <pmix.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// The functions of libpmix, with the types that its header declares.
#define FUNCTIONS(f) \
	f(Init) f(Get) f(Put) f(Commit) f(Fence) f(Abort) f(Finalize) f(Error_string) f(Register_event_handler)

#define DECLARE(name) __typeof__(PMIx_##name) *name;
static struct { FUNCTIONS(DECLARE) } library;

static pmix_proc_t self;
static int lost_fd = -1;

const char *gompi_pmix_load(void) {
	void *handle = dlopen("libpmix.so.2", RTLD_NOW | RTLD_LOCAL);
	if (handle == NULL)
		return dlerror();
#define FIND(name)                                                                           \
	if ((library.name = (__typeof__(library.name))dlsym(handle, "PMIx_" #name)) == NULL) \
		return dlerror();
	FUNCTIONS(FIND)
	return NULL;
}

// Reports to Go that the connection to the launcher is lost, by a write to lost_fd. libpmix calls this event handler in
// a thread of its own.
static void connection_lost(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
			    size_t infos, pmix_info_t *results, size_t number, pmix_event_notification_cbfunc_fn_t done,
			    void *arg) {
	uint64_t one = 1;
	while (write(lost_fd, &one, sizeof one) < 0 && errno == EINTR)
		;
	if (done != NULL)
		done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

static void registered(pmix_status_t status, size_t id, void *arg) { sem_post(arg); }

// Registers the handler for the loss of the launcher, and waits up to 2 s for the registration. Ignores a failure or a
// timeout.
static void watch_launcher(void) {
	static sem_t answered; // never destroyed, since the answer may arrive after the timeout
	static pmix_status_t losses[] = {PMIX_ERR_LOST_CONNECTION, PMIX_ERR_LOST_CONNECTION_TO_SERVER};
	sem_init(&answered, 0, 0);
	struct timespec until;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 2;
	if (library.Register_event_handler(losses, sizeof losses / sizeof *losses, NULL, 0, connection_lost, registered,
					   &answered) == PMIX_SUCCESS)
		while (sem_timedwait(&answered, &until) != 0 && errno == EINTR)
			;
}

int gompi_pmix_init(uint32_t *rank, int event_fd) {
	int rc = library.Init(&self, NULL, 0);
	if (rc != PMIX_SUCCESS)
		return rc;
	lost_fd = event_fd;
	watch_launcher();
	*rank = self.rank;
	return 0;
}

// Sets an info entry to a key with the value true.
static void set_flag(pmix_info_t *info, const char *key) {
	memset(info, 0, sizeof *info);
	strcpy(info->key, key);
	info->value.type = PMIX_BOOL;
	info->value.data.flag = true;
}

// Converts a value to a number. The type of a key's value differs between launchers.
static bool to_number(const pmix_value_t *v, uint64_t *number) {
	switch (v->type) {
	case PMIX_SIZE:
		*number = v->data.size;
		return true;
	case PMIX_INT:
		*number = (uint64_t)v->data.integer;
		return v->data.integer >= 0;
	case PMIX_INT8:
		*number = (uint64_t)v->data.int8;
		return v->data.int8 >= 0;
	case PMIX_INT16:
		*number = (uint64_t)v->data.int16;
		return v->data.int16 >= 0;
	case PMIX_INT32:
		*number = (uint64_t)v->data.int32;
		return v->data.int32 >= 0;
	case PMIX_INT64:
		*number = (uint64_t)v->data.int64;
		return v->data.int64 >= 0;
	case PMIX_UINT:
		*number = v->data.uint;
		return true;
	case PMIX_BYTE:
	case PMIX_UINT8:
		*number = v->data.uint8;
		return true;
	case PMIX_UINT16:
		*number = v->data.uint16;
		return true;
	case PMIX_UINT32:
		*number = v->data.uint32;
		return true;
	case PMIX_UINT64:
		*number = v->data.uint64;
		return true;
	case PMIX_PROC_RANK:
		*number = v->data.rank;
		return true;
	default:
		return false;
	}
}

bool gompi_pmix_get_number(const char *key, bool of_job, uint64_t *number) {
	pmix_proc_t whose = self;
	if (of_job)
		whose.rank = PMIX_RANK_WILDCARD;
	pmix_info_t here; // makes PMIx_Get use only values that the server has already sent
	set_flag(&here, PMIX_OPTIONAL);
	pmix_value_t *v = NULL;
	if (library.Get(&whose, key, &here, 1, &v) != PMIX_SUCCESS || v == NULL)
		return false;
	bool has_number = to_number(v, number);
	free(v); // a number owns no further memory
	return has_number;
}

int gompi_pmix_put(const char *key, const void *value, size_t bytes) {
	pmix_value_t v = {.type = PMIX_BYTE_OBJECT};
	v.data.bo.bytes = (char *)value; // PMIx_Put copies the value
	v.data.bo.size = bytes;
	return library.Put(PMIX_GLOBAL, key, &v);
}

int gompi_pmix_fence(void) {
	int rc = library.Commit();
	if (rc != PMIX_SUCCESS)
		return rc;
	pmix_info_t collect;
	set_flag(&collect, PMIX_COLLECT_DATA);
	return library.Fence(NULL, 0, &collect, 1);
}

int gompi_pmix_get(uint32_t rank, const char *key, char **value, size_t *bytes) {
	pmix_proc_t whose = self;
	whose.rank = rank;
	pmix_value_t *v = NULL;
	int rc = library.Get(&whose, key, NULL, 0, &v);
	if (rc != PMIX_SUCCESS)
		return rc;
	if (v == NULL || v->type != PMIX_BYTE_OBJECT)
		return PMIX_ERR_TYPE_MISMATCH;
	*value = v->data.bo.bytes;
	*bytes = v->data.bo.size;
	free(v);
	return 0;
}

int gompi_pmix_abort(int status, const char *text) { return library.Abort(status, text, NULL, 0); }
int gompi_pmix_finalize(void) { return library.Finalize(NULL, 0); }
const char *gompi_pmix_error_text(int status) { return library.Error_string(status); }
