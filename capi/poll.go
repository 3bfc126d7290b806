package main

/*
#include "base/poll.h"
*/
import "C"

import "gompirma/core"

// polled is called where a call that programs repeat, such as MPI_Test, found nothing: poll.h.
func polled() {
	C.gompi_polled()
	core.Self().Messages.Polled()
}
