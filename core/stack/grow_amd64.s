#include "textflag.h"
#include "funcdata.h"

// Grow declares a frame of FreeBytes bytes and does not use it. The stack check that Go inserts at the beginning of a
// function grows the stack so that it has space for the frame.
// func Grow()
TEXT ·Grow(SB), 0, $786432-0
	NO_LOCAL_POINTERS
	RET
