#include "base/in_go.h"

_Thread_local atomic_bool gompi_in_go __attribute__((tls_model("initial-exec")));
