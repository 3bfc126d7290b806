#include "base/go_callbacks.h"

struct gompi_go_callbacks gompi_go_callbacks;
