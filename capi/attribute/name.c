#include "attribute/name.h"

#include <stdlib.h>
#include <string.h>

int gompi_name_set(struct gompi_verdict *v, struct gompi_attributes *t, const char *name) {
	if (name == NULL)
		return gompi_error(v, MPI_ERR_ARG, "the name is a null pointer");
	gompi_biased_take(&gompi_keyvals_lock);
	if (t != NULL && t->name == NULL)
		t->name = malloc(sizeof *t->name);
	bool there = t != NULL && t->name != NULL;
	if (there) {
		// Names are short: two calls of the C library would take longer.
		char *to = t->name->text;
		int n = 0;
		while (n < MPI_MAX_OBJECT_NAME - 1 && name[n] != 0) {
			to[n] = name[n];
			n++;
		}
		to[n] = 0;
		t->name->length = n;
	}
	gompi_biased_give(&gompi_keyvals_lock);
	return there ? MPI_SUCCESS : gompi_error(v, MPI_ERR_NO_MEM, "no memory for a name");
}

int gompi_name_get(struct gompi_attributes *t, const char *otherwise, char *name) {
	int n = -1;
	if (t != NULL) {
		gompi_biased_take(&gompi_keyvals_lock);
		if (t->name != NULL) {
			n = t->name->length;
			memcpy(name, t->name->text, (size_t)n + 1);
		}
		gompi_biased_give(&gompi_keyvals_lock);
	}
	return n < 0 ? (int)(stpcpy(name, otherwise) - name) : n;
}
