#include "textflag.h"
#include "funcdata.h"

// Grow has a frame of FreeBytes bytes and does not use it. Go's stack check at the beginning of the function grows the
// stack for the frame.
// func Grow()
TEXT ·Grow(SB), 0, $786432-0
	NO_LOCAL_POINTERS
	RET
