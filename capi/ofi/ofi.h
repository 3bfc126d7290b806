// The providers of libfabric as a network (net/net_ops.h).
#ifndef GOMPI_OFI_H
#define GOMPI_OFI_H

#include "net/net_ops.h"

#pragma GCC visibility push(hidden)

extern const struct gompi_net_ops gompi_ofi_ops;

// Returns the version of libfabric, FI_VERSION(major, minor), or 0 if libfabric is not loaded.
uint32_t gompi_ofi_version(void);

#pragma GCC visibility pop
#endif
