#include "base/up.h"

struct gompi_up gompi_up;
