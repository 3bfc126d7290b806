#include "base/state.h"

struct gompi_state gompi_state;
