// UCX as a network (net/net_ops.h): active messages for frames, puts and gets for registered memory.
#ifndef GOMPI_UCX_H
#define GOMPI_UCX_H

#include "net/net_ops.h"

#pragma GCC visibility push(hidden)

extern const struct gompi_net_ops gompi_ucx_ops;

#pragma GCC visibility pop
#endif
