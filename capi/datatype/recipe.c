#include "datatype/recipe.h"

#include <string.h>

size_t gompi_recipe_bytes(const struct gompi_recipe *r) {
	size_t bytes = sizeof *r + (size_t)r->types_number * sizeof *r->types;
	for (int i = 0; i < GOMPI_RECIPE_LISTS; i++)
		bytes += r->list[i] != NULL ? (size_t)r->n * sizeof(int64_t) : 0;
	return bytes;
}

void gompi_recipe_keep(const struct gompi_recipe *r, struct gompi_type *t, int64_t words) {
	struct gompi_recipe *kept = (struct gompi_recipe *)((int64_t *)t + words);
	*kept = *r;
	kept->kept = true;
	int64_t *list = (int64_t *)(kept + 1);
	for (int i = 0; i < GOMPI_RECIPE_LISTS; i++) {
		if (r->list[i] == NULL)
			continue;
		for (int64_t k = 0; k < r->n; k++)
			list[k] = gompi_recipe_at(r, i, k);
		kept->list[i] = list;
		kept->wide[i] = true;
		list += r->n;
	}
	MPI_Datatype *types = (MPI_Datatype *)list;
	kept->types = types;
	for (int64_t i = 0; i < r->types_number; i++) {
		const struct gompi_type *old = gompi_recipe_type(r, i);
		gompi_type_hold(old);
		types[i] = gompi_type_mortal(old) ? (MPI_Datatype)(uintptr_t)old : r->types[i];
	}
	gompi_type_life(t)->recipe = kept;
}
