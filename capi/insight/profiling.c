// Determines which calls of PMPI_X the application makes, and their call sites.
//
// A profiling library can be used in two ways. If it follows this library in the loader's order, it calls PMPI_X inside
// the wrapper of MPI_X, which has recorded the call. If the program itself defines MPI_X, no wrapper of MPI_X is
// called, and the wrapper of PMPI_X records the call.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "insight/record.h"

// Returns true if an address is in the Fortran binding of PMPI_X, which calls PMPI_X for the application. All other
// calls of PMPI functions in the bindings only convert arguments and are not calls of the application.
static bool is_in_pmpi_binding(uintptr_t address, int function) {
	char name[128];
	Dl_info info;
	size_t n = snprintf(name, sizeof name, "P%s", gompi_insight_function_names[function]);
	if (n > 2 && strcmp(name + n - 2, "_c") == 0)
		n -= 2;
	return dladdr((void *)address, &info) && info.dli_sname && strncasecmp(info.dli_sname, name, n) == 0 &&
	       strchr("_", info.dli_sname[n]) != NULL;
}

bool gompi_insight_end_if_binding(struct gompi_insight_thread *t, int function) {
	uintptr_t back = (uintptr_t)t->return_address;
	if (!gompi_insight_is_in_bindings(t, back) || is_in_pmpi_binding(back, function))
		return false;
	gompi_insight_end(t);
	return true;
}

// The functions that the program calls under the names MPI_X, if they are not this library's wrappers.
static struct app_wrapper {
	gompi_a64 low; // address of the function; 0 if not known yet; 1 if there is none
	uint64_t size;
} app_wrappers[GOMPI_INSIGHT_FUNCTIONS];

static void find_app_wrapper(struct app_wrapper *o, const char *name) {
	void *first = dlsym(RTLD_DEFAULT, name);
	Dl_info self_info, info;
	const ElfW(Sym) *symbol = NULL;
	if (first != NULL && dladdr(&app_wrappers, &self_info) &&
	    dladdr1(first, &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol != NULL &&
	    info.dli_fbase != self_info.dli_fbase) {
		o->size = symbol->st_size;
		gompi_store_release(&o->low, (uintptr_t)first); // pairs with the acquire below
	} else {
		gompi_store_release(&o->low, 1);
	}
}

void *gompi_insight_call_site(int function, void *back) {
	enum { DEPTH = 16 };
	struct app_wrapper *o = &app_wrappers[function];
	uint64_t low = gompi_load_acquire(&o->low); // pairs with the release above
	if (low == 0) {
		find_app_wrapper(o, gompi_insight_function_names[function]);
		low = gompi_load(&o->low);
	}
	if (low == 1)
		return back;
	void *frames[DEPTH];
	int n = backtrace(frames, DEPTH), i = 0;
	while (i < n && (uintptr_t)frames[i] - low >= o->size)
		i++;
	for (i++; i < n; i++) // the bindings may have called MPI_X for a Fortran program
		if (!gompi_insight_is_in_bindings(&gompi_insight_self, (uintptr_t)frames[i]))
			return frames[i];
	return back;
}
