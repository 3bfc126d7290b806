// For go_callbacks.c.
#include "datatype/user_op.h"
