//go:build gompi_again

// Entry point of again.go.
#include "_cgo_export.h"

__attribute__((visibility("default"))) int MPIX_Again(void) { return gompi_again(); }
