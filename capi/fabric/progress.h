// Taking out what has arrived.
#ifndef GOMPI_FABRIC_PROGRESS_H
#define GOMPI_FABRIC_PROGRESS_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

// gompi_fabric_progress for the progress thread.
bool gompi_net_serve(void);

// Returns true if nothing is there, and gompi_net.fd will say when there is.
bool gompi_net_may_sleep(void);

// Gives the provider the places that frames arrive in; 0, or an error of libfabric.
int gompi_net_receive(void);

// No thread is the serving one from then on.
void gompi_net_stop_serving(void);

// Makes the room part of every wait.
void gompi_net_serve_in_waits(void);

#pragma GCC visibility pop
#endif
