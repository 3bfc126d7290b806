// Refusals that C code and the generated entry points hand to Go, where the error handlers are.
#include "_cgo_export.h"
#include "refuse.h"
#include "z_entry.h"

int gompi_unsupported(const char *name, int kind, uintptr_t object)
{
    int rc = gompi_unsupported_go((uintptr_t)name, kind, object);
    return rc < 0 ? gompi_raise(rc) : rc;
}

int gompi_refuse(int class, const char *name, const char *text, int kind, uintptr_t object)
{
    int rc = gompi_refused_go(class, (uintptr_t)name, (uintptr_t)text, kind, object);
    return rc < 0 ? gompi_raise(rc) : rc;
}
