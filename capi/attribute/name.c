#include "attribute/name.h"

#include <stdlib.h>
#include <string.h>

// Copies a name without a call of the C library, which would take longer for short names. May copy some bytes twice.
static inline void copy_name(char *to, const char *from, size_t n) {
	enum { WORD = sizeof(uint64_t), HALF = WORD / 2 };
	if (n >= WORD) {
		for (size_t i = 0; i < n - WORD; i += WORD)
			memcpy(to + i, from + i, WORD);
		memcpy(to + n - WORD, from + n - WORD, WORD);
	} else if (n >= HALF) {
		memcpy(to, from, HALF);
		memcpy(to + n - HALF, from + n - HALF, HALF);
	} else {
		for (size_t i = 0; i < n; i++)
			to[i] = from[i];
	}
}

int gompi_name_set(struct gompi_error_status *v, struct gompi_attributes *t, const char *name) {
	if (name == NULL)
		return gompi_set_error(v, MPI_ERR_ARG, "the name is NULL");
	gompi_biased_lock(&gompi_keyvals_lock);
	if (t != NULL && t->name == NULL)
		t->name = malloc(sizeof *t->name);
	bool has_memory = t != NULL && t->name != NULL;
	if (has_memory) {
		char *to = t->name->text;
		int n = 0;
		while (n < MPI_MAX_OBJECT_NAME - 1 && (to[n] = name[n]) != 0)
			n++;
		to[n] = 0;
		t->name->length = n;
	}
	gompi_biased_unlock(&gompi_keyvals_lock);
	return has_memory ? MPI_SUCCESS : gompi_set_error(v, MPI_ERR_NO_MEM, "out of memory for a name");
}

int gompi_name_get(struct gompi_attributes *t, struct gompi_default_name fallback, char *name) {
	int n = -1;
	if (t != NULL) {
		gompi_biased_lock(&gompi_keyvals_lock);
		if (t->name != NULL) {
			n = t->name->length;
			copy_name(name, t->name->text, (size_t)n + 1);
		}
		gompi_biased_unlock(&gompi_keyvals_lock);
	}
	if (n < 0) {
		n = fallback.length;
		copy_name(name, fallback.name, (size_t)n + 1);
	}
	return n;
}
