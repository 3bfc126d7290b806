// Refusing a call from C.
#ifndef GOMPI_REFUSE_H
#define GOMPI_REFUSE_H

#include <stdint.h>

// gompi_refuse raises an error of the given class on object (kind is one of GOMPI_ON_, see z_entry.h) with a text that says what was wrong, and
// returns what the function called name shall return. Not for the fast path: it calls Go.
__attribute__((visibility("hidden"), cold)) int gompi_refuse(int class, const char *name, const char *text, int kind, uintptr_t object);

#endif
