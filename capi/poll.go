package main

/*
#include "message/call.h"
*/
import "C"

// polled is called where a call that programs repeat, such as MPI_Improbe, found nothing.
func polled() { C.gompi_message_polled() }
