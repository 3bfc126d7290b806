#include "datatype/recipe.h"

#include <string.h>

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
		types[i] = r->types[i];
		if ((uintptr_t)types[i] - GOMPI_TYPE_FIRST >= GOMPI_TYPE_PREDEFINED) {
			const struct gompi_type *old = gompi_recipe_type(r, i);
			gompi_type_hold(old);
			gompi_type_life(t)->holder = true;
			types[i] = (MPI_Datatype)(uintptr_t)old;
		}
	}
	gompi_type_life(t)->recipe = kept;
}
