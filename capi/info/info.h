// Info objects (MPI-5.0 10): ordered pairs of key and value. What keys mean is known to whoever honours one.
#ifndef GOMPI_INFO_H
#define GOMPI_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/abi.h"
#include "base/verdict.h"

#pragma GCC visibility push(hidden)

// Returns true if there is an object with this handle.
bool gompi_info_is(MPI_Info info);

// Makes an object: gompi_info_begin, then gompi_info_append for each pair, with keys that are all different, then
// gompi_info_finish, which stores the handle and returns the verdict's class: MPI_ERR_NO_MEM. Between the first and the
// last the thread has the lock of info objects, and so of all hints that communicators and windows have.
struct gompi_info;
struct gompi_info *gompi_info_begin(void);
void gompi_info_append(struct gompi_info *x, const char *key, size_t key_length, const char *value, size_t length);
int gompi_info_finish(struct gompi_info *x, MPI_Info *info, struct gompi_verdict *v);

// Inline, so that the lengths of constants are constants.
static inline void gompi_info_add(struct gompi_info *x, const char *key, const char *value) {
	gompi_info_append(x, key, strlen(key), value, strlen(value));
}

// Calls one for each pair of an object, under the lock, until it returns an error class. MPI_SUCCESS, also for
// MPI_INFO_NULL; that class; MPI_ERR_INFO: there is no such object, which v tells.
int gompi_info_each(MPI_Info info, struct gompi_verdict *v,
		    int (*one)(void *to, const char *key, size_t key_length, const char *value, size_t length,
			       struct gompi_verdict *v),
		    void *to);

// The lock of info objects, for who changes hints that others read with gompi_info_begin.
void gompi_info_take(void);
void gompi_info_give(void);

// For Go. Makes an object with n pairs: the key, a 0, the value and a 0 of each. The verdict's class.
int gompi_info_make(int n, const char *pairs, MPI_Info *info, struct gompi_verdict *v);
// Copies the value of a key to MPI_MAX_INFO_VAL bytes; "": it is not there, or the handle is MPI_INFO_NULL.
// MPI_ERR_INFO: there is no such object, which v tells.
int gompi_info_value(MPI_Info info, const char *key, char *value, struct gompi_verdict *v);

#pragma GCC visibility pop
#endif
