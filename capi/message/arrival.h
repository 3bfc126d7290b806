// Messages: what C knows of them so far is whether any have arrived; matching and moving them is Go's (core/p2p).
#ifndef GOMPI_ARRIVAL_H
#define GOMPI_ARRIVAL_H

// Makes waiting threads serve this process' message ring. After gompi_node_open.
void gompi_arrival_open(void);

#endif
