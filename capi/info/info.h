// Info objects (MPI-5.0 10): ordered pairs of key and value. The code that honours a key defines its meaning.
#ifndef GOMPI_INFO_H
#define GOMPI_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/abi.h"
#include "base/error_status.h"

#pragma GCC visibility push(hidden)

// Returns true if there is an object with this handle.
bool gompi_info_exists(MPI_Info info);

// To create an object, call gompi_info_begin, then gompi_info_append for each pair, then gompi_info_finish. The keys
// must be distinct. gompi_info_finish stores the handle. It returns MPI_SUCCESS, or MPI_ERR_NO_MEM with the text in *v.
// From gompi_info_begin to gompi_info_finish the thread holds the lock of info objects. This lock also guards the hints
// of communicators and windows.
struct gompi_info;
struct gompi_info *gompi_info_begin(void);
void gompi_info_append(struct gompi_info *x, const char *key, size_t key_length, const char *value, size_t length);
int gompi_info_finish(struct gompi_info *x, MPI_Info *info, struct gompi_error_status *v);

// Appends a pair. Inline, so that the compiler computes the lengths of constant strings.
static inline void gompi_info_add(struct gompi_info *x, const char *key, const char *value) {
	gompi_info_append(x, key, strlen(key), value, strlen(value));
}

// Calls callback(to, ...) for each pair of an object, under the lock, until it returns an error class. Returns that
// error class, else MPI_SUCCESS. MPI_INFO_NULL has no pairs. Returns MPI_ERR_INFO, with the text in *v, if `info` is
// neither an info object nor MPI_INFO_NULL.
int gompi_info_for_each(MPI_Info info, struct gompi_error_status *v,
			int (*callback)(void *to, const char *key, size_t key_length, const char *value, size_t length,
					struct gompi_error_status *v),
			void *to);

// Acquires (gompi_info_lock) or releases (gompi_info_unlock) the lock of info objects. A thread that changes hints
// holds it, because other threads read hints between gompi_info_begin and gompi_info_finish.
void gompi_info_lock(void);
void gompi_info_unlock(void);

// Creates an object with n pairs, for Go. `pairs` holds, for each pair, the key, a 0, the value and a 0. Returns
// MPI_SUCCESS or the error class in *v.
int gompi_info_make(int n, const char *pairs, MPI_Info *info, struct gompi_error_status *v);
// Copies the value of a key to MPI_MAX_INFO_VAL bytes. Stores "" if the key is not set or the handle is MPI_INFO_NULL.
// Returns MPI_ERR_INFO, with the text in *v, if `info` is not an info object.
int gompi_info_value(MPI_Info info, const char *key, char *value, struct gompi_error_status *v);

#pragma GCC visibility pop
#endif
