// libfabric, loaded at run time: programs on one node never meet it, and machines without it run those all the same.
#ifndef GOMPI_FABRIC_LOAD_H
#define GOMPI_FABRIC_LOAD_H

#include <rdma/fabric.h>
#include <stdbool.h>

#pragma GCC visibility push(hidden)

// What libfabric exports of what is used here; all the rest is inline over the tables of its objects.
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

enum { GOMPI_FABRIC_TEXT = 400 }; // bytes of the texts of this room

// Loads it, once. false: why says what is missing. Takes some 200 ms.
bool gompi_libfabric_load(char why[GOMPI_FABRIC_TEXT]);

// What providers fi_getinfo finds for hints; 0 or an error of libfabric. The first call takes some 100 ms.
int gompi_libfabric_getinfo(const struct fi_info *hints, struct fi_info **info);

static inline const char *gompi_libfabric_text(int error) { return gompi_libfabric.strerror(error); }

#pragma GCC visibility pop
#endif
