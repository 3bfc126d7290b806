#include "textflag.h"
#include "funcdata.h"

// A frame of this size is what makes Go's own check at the beginning of a function grow the stack; nothing is done with it.
// func Grow()
TEXT ·Grow(SB), 0, $786432-0
	NO_LOCAL_POINTERS
	RET
