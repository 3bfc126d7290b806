#include "datatype/recipe.h"

#include <string.h>

void gompi_recipe_store(const struct gompi_recipe *r, struct gompi_type *t, int64_t words) {
	struct gompi_recipe *stored = (struct gompi_recipe *)((int64_t *)t + words);
	*stored = *r;
	stored->is_stored = true;
	int64_t *list = (int64_t *)(stored + 1);
	for (int i = 0; i < GOMPI_RECIPE_LISTS; i++) {
		if (r->list[i] == NULL)
			continue;
		for (int64_t k = 0; k < r->n; k++)
			list[k] = gompi_recipe_at(r, i, k);
		stored->list[i] = list;
		stored->is_64bit[i] = true;
		list += r->n;
	}
	MPI_Datatype *types = (MPI_Datatype *)list;
	stored->types = types;
	for (int64_t i = 0; i < r->type_count; i++) {
		types[i] = r->types[i];
		if ((uintptr_t)types[i] - GOMPI_TYPE_FIRST >= GOMPI_TYPE_PREDEFINED) {
			const struct gompi_type *old = gompi_recipe_type(r, i);
			gompi_type_retain(old);
			gompi_type_meta(t)->holds_types = true;
			types[i] = (MPI_Datatype)(uintptr_t)old;
		}
	}
	gompi_type_meta(t)->recipe = stored;
}
