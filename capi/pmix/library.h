// The library libpmix, loaded at run time when a launcher that speaks PMIx has started the process: the few of its
// functions that a job needs to find itself and to exchange values. What fails returns libpmix's status, which
// gompi_pmix_text explains.
//
// Functions may be called by any thread. None is called before gompi_pmix_load has returned NULL and gompi_pmix_init 0,
// nor after gompi_pmix_finalize.
#ifndef GOMPI_PMIX_H
#define GOMPI_PMIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// Loads the library. Returns NULL, or why it cannot be.
const char *gompi_pmix_load(void);

// Introduces the process to its launcher, which gives it a rank. lost is a descriptor to which 8 bytes are written when
// the launcher goes away.
int gompi_pmix_init(uint32_t *rank, int lost);

// A number that the launcher tells, about the job or about this process. False: it does not.
bool gompi_pmix_number(const char *key, bool of_job, uint64_t *number);

// Publishes a value under a key, which others see after a fence.
int gompi_pmix_put(const char *key, const void *value, size_t bytes);

// Waits until all processes of the job are here, and fetches what they have published.
int gompi_pmix_fence(void);

// What the process of a rank has published, in *value, which the caller frees.
int gompi_pmix_get(uint32_t rank, const char *key, char **value, size_t *bytes);

int gompi_pmix_abort(int status, const char *text);
int gompi_pmix_finalize(void);

const char *gompi_pmix_text(int status);

#pragma GCC visibility pop
#endif
