//go:build gompi_reopen

// Entry point of reopen.go.
#include "_cgo_export.h"

__attribute__((visibility("default"))) int MPIX_Again(void) { return gompi_reopen(); }
