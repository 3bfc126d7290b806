// Opens the network. core/fabric calls three functions in this order. gompi_net_choose chooses the provider,
// gompi_net_open opens the endpoint, and gompi_net_begin gets the addresses of all processes.
#ifndef GOMPI_FABRIC_OPEN_H
#define GOMPI_FABRIC_OPEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/net_ops.h"

#pragma GCC visibility push(hidden)

// Chooses the provider for the job. The argument `wanted` is the name that the user has given, or NULL. If no provider
// can be used, returns false and writes the reason to error_detail.
bool gompi_net_choose(const char *wanted, struct gompi_provider *chosen, char error_detail[GOMPI_NET_ERROR_BYTES]);

// Lists the providers on this machine. The argument `wanted` is as in gompi_net_choose. Returns the number of entries,
// at most capacity. Writes a reason to error_detail if no provider can be used, else an empty string.
int gompi_net_candidates(const char *wanted, struct gompi_candidate *list, int capacity,
			 char error_detail[GOMPI_NET_ERROR_BYTES]);

// Opens the endpoint of this process, whose address data is stored in *e. One process of each node publishes the data
// of its host. On failure returns false and writes the reason to error_detail.
bool gompi_net_open(const struct gompi_provider *provider, struct gompi_net_endpoint *e,
		    char error_detail[GOMPI_NET_ERROR_BYTES]);

// Stores the addresses of all processes and opens the network for the threads of this process. On failure returns false
// and writes the reason to error_detail.
bool gompi_net_begin(const struct gompi_net_job *job, char error_detail[GOMPI_NET_ERROR_BYTES]);

// Makes a process of another job a peer. Errors: NET_FAILED if the network cannot have such peers, or the data is
// invalid; NET_NO_MEM.
enum gompi_net_error gompi_net_add(const struct gompi_net_foreign *f);

// Waits until the processes of this job, or those of other jobs, have received all frames, but for each process not
// longer than the limit.
void gompi_net_drain(bool own_job, int limit_ms);

// Closes the network. The caller ensures that no thread of this process uses the network, and that no other process
// waits for this process.
void gompi_net_end(void);

#pragma GCC visibility pop
#endif
