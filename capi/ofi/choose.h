// Which provider of libfabric a job uses.
#ifndef GOMPI_OFI_CHOOSE_H
#define GOMPI_OFI_CHOOSE_H

#include <rdma/fabric.h>

#include "net/net_ops.h"

#pragma GCC visibility push(hidden)

// A provider whose messages are shorter than this number of bytes is not used.
enum { GOMPI_OFI_MIN_MESSAGE_BYTES = 68 << 10 };

// Functions of struct gompi_net_ops.
enum gompi_net_choice gompi_ofi_choose(const char *wanted, struct gompi_provider *chosen,
				       char error_detail[GOMPI_NET_ERROR_BYTES]);
int gompi_ofi_list(const struct gompi_provider *chosen, bool wanted, struct gompi_candidate *list, int capacity);

// Returns the list of providers that fi_getinfo finds with this name, or with any name (NULL). On error returns NULL
// and writes the reason to error_detail.
struct fi_info *gompi_ofi_find_providers(const char *name, char error_detail[GOMPI_NET_ERROR_BYTES]);
// Returns true if messages and keys of the provider are long enough.
bool gompi_ofi_is_usable(const struct fi_info *i);

#pragma GCC visibility pop
#endif
