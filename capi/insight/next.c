// Finds the functions that the wrappers call: the next definition of each name in the loader's order.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "insight/record.h"

_Atomic(void *) gompi_insight_next_table[2][GOMPI_INSIGHT_FUNCTIONS];

// Returns the next definition of a symbol. RTLD_NEXT does not find the MPI library if it was loaded as a dependency of
// a library that dlopen has loaded, such as an extension of Python. So this function also searches the loaded MPI
// libraries.
static void *next_symbol(const char *name) {
	void *next = dlsym(RTLD_NEXT, name);
	static const char *const libraries[] = {"libmpi_abi.so.1", "libmpi_abi.so.0", "libgompirma.so.1",
						"libgompirma.so.0"};
	for (size_t i = 0; next == NULL && i < sizeof libraries / sizeof *libraries; i++) {
		void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
		if (library != NULL) {
			next = dlsym(library, name);
			dlclose(library);
		}
	}
	return next;
}

// Writes the name of the function with this number, with the prefix P if `profiling` is true.
static const char *function_name(char name[static 128], int number, bool profiling) {
	snprintf(name, 128, "%s%s", profiling ? "P" : "", gompi_insight_function_names[number]);
	return name;
}

void *gompi_insight_find_function(int number, bool profiling) {
	char name[128];
	void *next = next_symbol(function_name(name, number, profiling));
	if (next == NULL) {
		fprintf(stderr,
			"libgompirma-insight.so: the program calls %s, but no loaded MPI library defines this "
			"function\n",
			name);
		abort();
	}
	gompi_store(&gompi_insight_next_table[profiling][number], next);
	return next;
}

void *gompi_insight_next_symbol(const char *name) { return next_symbol(name); }

// Finds all functions that are available when this library is loaded. If the MPI library is loaded later, each function
// is found at its first call. The functions PMPI_X, which few programs call, are always found at their first call.
__attribute__((constructor)) static void find_functions(void) {
	if (dlsym(RTLD_NEXT, "MPI_Init") == NULL)
		return; // not an MPI program, such as a shell that starts it
	for (int i = 0; i < GOMPI_INSIGHT_FUNCTIONS; i++)
		gompi_store(&gompi_insight_next_table[false][i], dlsym(RTLD_NEXT, gompi_insight_function_names[i]));
}
