// For go_callbacks.c.
#include "base/in_go.h"
