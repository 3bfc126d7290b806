// Keyvals (MPI-5.0 7.7.2 to 7.7.4). A keyval exists until the application has freed it and no attribute uses it. Its
// number encodes the kind of object. So if a lookup finds no attribute, it need not access the keyval: the table of
// handles shows whether a keyval with this number and kind exists.
#ifndef GOMPI_KEYVAL_H
#define GOMPI_KEYVAL_H

#include "base/abi.h"
#include "base/object_pool.h"
#include "base/error_status.h"

#pragma GCC visibility push(hidden)

enum { GOMPI_KEYVAL_FIRST = 1000 }; // predefined attributes have smaller numbers

// The kinds of keyvals. The deprecated MPI_Keyval_create makes keyvals of communicators.
enum gompi_keyval_kind { GOMPI_KEYVAL_COMM, GOMPI_KEYVAL_WIN, GOMPI_KEYVAL_TYPE, GOMPI_KEYVAL_KINDS };

struct gompi_keyval {
	struct gompi_keyval *next; // next in the free list
	int number;
	uintptr_t copy, delete; // addresses of callbacks: the application's, or predefined ones
	void *extra_state;
	uint32_t ref_count; // number of attributes with this keyval
	bool is_freed;
};

// gompi_keyvals_lock guards these pools; the locks in the pools are unused.
extern struct gompi_object_pool gompi_keyvals[GOMPI_KEYVAL_KINDS];

// Guards keyvals and all changes of attribute tables. No callback of the application runs under this lock.
extern struct gompi_biased_mutex gompi_keyvals_lock;

// Returns true if a keyval with this number exists. A freed keyval that an attribute still uses exists too.
static inline bool gompi_keyval_exists(enum gompi_keyval_kind kind, int number) {
	return gompi_table_get(&gompi_keyvals[kind].handles.table, (uintptr_t)(uint32_t)number) != NULL;
}

// Fills *v with the reason why no keyval of this kind has this number. Returns MPI_ERR_KEYVAL.
__attribute__((cold)) int gompi_keyval_error(struct gompi_error_status *v, enum gompi_keyval_kind kind, int number);

// Returns the keyval, or NULL. The caller holds gompi_keyvals_lock.
struct gompi_keyval *gompi_keyval_find_locked(enum gompi_keyval_kind kind, int number);
// Drops one attribute's reference to k. Frees k if no attribute is left and the application has freed k
// (MPI_Comm_free_keyval). The caller holds gompi_keyvals_lock.
void gompi_keyval_release_locked(struct gompi_keyval *k);

#pragma GCC visibility pop
#endif
