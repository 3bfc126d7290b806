#define _GNU_SOURCE
#include "ofi/library.h"

#include <dlfcn.h>
#include <stdio.h>

#include "net/library.h"

struct gompi_libfabric gompi_libfabric;

// The symbol versions to look up: their struct fi_info must have the layout of the headers with which this file is
// compiled. A plain dlsym would find the newest version.
#if FI_MAJOR_VERSION > 1
#define INFO_VERSION "FABRIC_1.8"
#elif FI_MINOR_VERSION >= 20
#define INFO_VERSION "FABRIC_1.7"
#else
#define INFO_VERSION "FABRIC_1.3"
#endif
#define BASE_VERSION "FABRIC_1.0"
#define FABRIC_VERSION "FABRIC_1.1"

// Environment variables that are set while libfabric starts. The send and receive queues are small, because gompirma
// limits the number of frames itself. Buffers of 4 KiB hold 64 small operations, and all buffers take 10 MB instead of
// 70 MB. The provider sends a message of more than 4 KiB by rendezvous. The provider checks connections every 1 ms
// instead of every 10 ms.
static const struct gompi_library_setting settings[] = {
	{"IPATH_NO_BACKTRACE", "1"},
	{"FI_OFI_RXM_MSG_TX_SIZE", "128"},
	{"FI_OFI_RXM_MSG_RX_SIZE", "64"},
	{"FI_OFI_RXM_BUFFER_SIZE", "4096"},
	{"FI_OFI_RXM_CM_PROGRESS_INTERVAL", "1000"},
};
enum { SETTINGS = sizeof settings / sizeof *settings };

// Stores the address of a symbol in the pointer at `where`. Returns false if the symbol does not exist.
static bool find_symbol(void *library, const char *name, const char *version, void *where) {
	void *found = dlvsym(library, name, version);
	*(void **)where = found;
	return found != NULL;
}

bool gompi_libfabric_load(char error_detail[GOMPI_NET_ERROR_BYTES]) {
	struct gompi_libfabric *l = &gompi_libfabric;
	if (l->getinfo != NULL)
		return true;
	const char *error;
	void *library = gompi_library_load("libfabric.so.1", settings, SETTINGS, &error);
	if (library == NULL) {
		snprintf(error_detail, GOMPI_NET_ERROR_BYTES,
			 "the job runs on several nodes, but libfabric is not installed on this node (%s): install the "
			 "package libfabric1 (Debian, Ubuntu) or libfabric (Fedora, RHEL, SUSE)",
			 error);
		return false;
	}
	if (find_symbol(library, "fi_freeinfo", INFO_VERSION, &l->freeinfo) &&
	    find_symbol(library, "fi_dupinfo", INFO_VERSION, &l->dupinfo) &&
	    find_symbol(library, "fi_fabric", FABRIC_VERSION, &l->fabric) &&
	    find_symbol(library, "fi_strerror", BASE_VERSION, &l->strerror) &&
	    find_symbol(library, "fi_version", BASE_VERSION, &l->version) && l->version() >= FI_VERSION(1, 17) &&
	    find_symbol(library, "fi_getinfo", INFO_VERSION, &l->getinfo))
		return true;
	uint32_t version = l->version != NULL ? l->version() : 0;
	snprintf(error_detail, GOMPI_NET_ERROR_BYTES,
		 "libfabric.so.1 on this node is version %u.%u; a job on several nodes needs 1.17 or later",
		 FI_MAJOR(version), FI_MINOR(version));
	return false;
}

int gompi_libfabric_getinfo(const struct fi_info *hints, struct fi_info **info) {
	struct gompi_library_start start;
	gompi_library_start_begin(&start, settings, SETTINGS);
	int rc = gompi_libfabric.getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, info);
	gompi_library_start_end(&start);
	return rc;
}
