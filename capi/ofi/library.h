// libfabric, loaded at run time. Programs on one node never load it, so they also run on machines without libfabric.
#ifndef GOMPI_OFI_LIBRARY_H
#define GOMPI_OFI_LIBRARY_H

#include <rdma/fabric.h>
#include <stdbool.h>

#include "net/net_ops.h"

#pragma GCC visibility push(hidden)

// The exported functions of libfabric that this directory uses. All other functions of libfabric's API are inline
// functions, which call through the objects' function tables.
struct gompi_libfabric {
	int (*getinfo)(uint32_t version, const char *node, const char *service, uint64_t flags,
		       const struct fi_info *hints, struct fi_info **info);
	void (*freeinfo)(struct fi_info *info);
	struct fi_info *(*dupinfo)(const struct fi_info *info);
	int (*fabric)(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context);
	const char *(*strerror)(int error);
	uint32_t (*version)(void);
};
extern struct gompi_libfabric gompi_libfabric;

// Loads libfabric if it is not loaded yet, which takes about 200 ms. On failure returns false and writes the reason to
// error_detail.
bool gompi_libfabric_load(char error_detail[GOMPI_NET_ERROR_BYTES]);

// Finds the providers that match hints (fi_getinfo). Returns 0 or an error of libfabric. The first call takes about 100
// ms.
int gompi_libfabric_getinfo(const struct fi_info *hints, struct fi_info **info);

static inline const char *gompi_libfabric_error_text(int error) { return gompi_libfabric.strerror(error); }

#pragma GCC visibility pop
#endif
