// Making progress: handling completions and arrivals.
#ifndef GOMPI_FABRIC_PROGRESS_H
#define GOMPI_FABRIC_PROGRESS_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

// Makes progress like gompi_fabric_progress, but does not send queued records. For the progress thread.
bool gompi_net_poll(void);

// Returns true if nothing has arrived and gompi_net.fd will become readable at the next arrival. Always returns true if
// the network has no descriptor.
bool gompi_net_may_sleep(void);

// Posts the receive buffers. Returns false if out of memory.
bool gompi_net_post_receives(void);

// Closes the network to all threads, and waits until no thread serves it.
void gompi_net_stop_polling(void);

// Registers the service by which every wait of the process serves the network.
void gompi_net_poll_in_waits(void);

#pragma GCC visibility pop
#endif
