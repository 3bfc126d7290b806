// Keyvals (MPI-5.0 7.7.2 to 7.7.4). A keyval lives until it is freed and no attribute has it. Its number says what
// objects it is for, so that who asks for an attribute which is not set need not look at the keyval itself.
#ifndef GOMPI_KEYVAL_H
#define GOMPI_KEYVAL_H

#include "base/abi.h"
#include "base/objects.h"
#include "base/verdict.h"

#pragma GCC visibility push(hidden)

// What a keyval is for. The deprecated MPI_Keyval_create makes keyvals of communicators.
enum { GOMPI_KEYVAL_FIRST = 1000 }; // predefined attributes are below

enum gompi_keyval_kind { GOMPI_KEYVAL_COMM, GOMPI_KEYVAL_WIN, GOMPI_KEYVAL_TYPE, GOMPI_KEYVAL_KINDS };

struct gompi_keyval {
	struct gompi_keyval *next; // of those to be used again
	int number;
	uintptr_t copy, delete; // the application's functions, or predefined ones
	void *extra;
	uint32_t uses; // attributes that have it
	bool freed;
};

// The lock below guards them, not those of each kind.
extern struct gompi_objects gompi_keyvals[GOMPI_KEYVAL_KINDS];

// Guards keyvals and the changes of all tables of attributes. No function of the application is called under it.
extern struct gompi_biased gompi_keyvals_lock;

// Returns true if there is such a keyval: one that was freed, too, while an attribute has it.
static inline bool gompi_keyval_lives(enum gompi_keyval_kind kind, int number) {
	return gompi_table_get(&gompi_keyvals[kind].handles.table, (uintptr_t)(uint32_t)number) != NULL;
}

// Returns MPI_ERR_KEYVAL and says why there is no such keyval.
__attribute__((cold)) int gompi_no_keyval(struct gompi_verdict *v, enum gompi_keyval_kind kind, int number);

// Returns the keyval, or NULL. The lock is held, as it is in the next one.
struct gompi_keyval *gompi_keyval_find_locked(enum gompi_keyval_kind kind, int number);
// One attribute less has a keyval, which goes with the last if it was freed.
void gompi_keyval_leave_locked(struct gompi_keyval *k);

#pragma GCC visibility pop
#endif
