// The library libpmix, loaded at run time if a PMIx launcher has started the process. Declares the few functions that a
// process needs to find its job and to exchange values. Functions return 0 or a status of libpmix, which
// gompi_pmix_error_text explains.
//
// Any thread may call these functions, in this order: gompi_pmix_load; if it returns NULL, gompi_pmix_init; if this
// returns 0, any of the other functions; gompi_pmix_finalize last.
#ifndef GOMPI_PMIX_H
#define GOMPI_PMIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// Loads the library. Returns NULL, or an error message.
const char *gompi_pmix_load(void);

// Connects the process to its launcher and stores its rank. When the connection to the launcher is lost, libpmix's
// thread writes 8 bytes to event_fd.
int gompi_pmix_init(uint32_t *rank, int event_fd);

// Stores the number that the launcher provides under a key: a property of the job if of_job is true, else of this
// process. Returns false if the launcher provides no number under this key.
bool gompi_pmix_get_number(const char *key, bool of_job, uint64_t *number);

// Publishes a value under a key. Other processes see it after a fence.
int gompi_pmix_put(const char *key, const void *value, size_t bytes);

// Waits until all processes of the job have called this function, and fetches the values that they have published.
int gompi_pmix_fence(void);

// Gets a value that another process has published. The caller frees *value.
int gompi_pmix_get(uint32_t rank, const char *key, char **value, size_t *bytes);

int gompi_pmix_abort(int status, const char *text);
int gompi_pmix_finalize(void);

const char *gompi_pmix_error_text(int status);

#pragma GCC visibility pop
#endif
