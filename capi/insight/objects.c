// The table of objects (libraries and the program) that the process has loaded. gompirun needs it to convert addresses
// to names and lines. The object that contains a caller is added before the record of the call is written. The loader
// calls on_loaded_object under its own lock, so only one thread at a time writes the table.

#define _GNU_SOURCE
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "insight/record.h"

static unsigned long long loader_add_count; // the loader's count of loaded objects at the last update

static struct gompi_insight_object *find_known_object(uintptr_t address) {
	struct gompi_insight_part *part = gompi_insight_part;
	uint32_t n = gompi_load_acquire(&part->objects); // pairs with the release in add_loaded_object
	// searches the latest entry first: the address may have belonged to an object that was unloaded
	for (uint32_t i = n; i-- > 0;)
		if (part->objects_table[i].low <= address && address < part->objects_table[i].high)
			return &part->objects_table[i];
	return NULL;
}

static void add_loaded_object(uint64_t low, uint64_t high, uint64_t bias, const char *name, size_t length) {
	struct gompi_insight_part *part = gompi_insight_part;
	uint32_t n = gompi_load(&part->objects), names = gompi_load(&part->names);
	struct gompi_insight_object *known = find_known_object(low);
	if (known && known->low == low && known->high == high && strncmp(part->name + known->name, name, length) == 0 &&
	    part->name[known->name + length] == 0)
		return;
	if (n == GOMPI_INSIGHT_MAX_OBJECTS || names + length + 1 > GOMPI_INSIGHT_NAMES_SIZE) {
		gompi_add(&part->objects_lost, 1);
		return;
	}
	memcpy(part->name + names, name, length);
	part->objects_table[n] = (struct gompi_insight_object){low, high, bias, names};
	gompi_store(&part->names, names + length + 1);
	gompi_store_release(&part->objects, n + 1); // pairs with the acquire in find_known_object, and in core/insight
}

static int on_loaded_object(struct dl_phdr_info *info, size_t size, void *has_changed) {
	(void)size;
	if (!*(bool *)has_changed && info->dlpi_adds == loader_add_count)
		return 1; // no object has been loaded since the last update
	*(bool *)has_changed = true;
	loader_add_count = info->dlpi_adds;
	uint64_t low = UINT64_MAX, high = 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		if (p->p_type != PT_LOAD)
			continue;
		uint64_t from = info->dlpi_addr + p->p_vaddr;
		low = from < low ? from : low;
		high = from + p->p_memsz > high ? from + p->p_memsz : high;
	}
	char self[4096];
	const char *name = info->dlpi_name;
	size_t length = strlen(name);
	if (length == 0) { // the program
		ssize_t n = readlink("/proc/self/exe", self, sizeof self);
		length = n > 0 ? n : 0;
		name = self;
	}
	if (low < high)
		add_loaded_object(low, high, info->dlpi_addr, name, length);
	return 0;
}

// Returns true if an object is the Fortran bindings, which call MPI for the application.
static bool is_binding(const struct gompi_insight_object *object) {
	const char *name = gompi_insight_part->name + object->name;
	return strstr(name, "/libgompirma_fortran") != NULL || strstr(name, "/libmpifort_abi") != NULL;
}

static struct gompi_insight_object *find_or_load_object(uintptr_t address) {
	struct gompi_insight_object *object = find_known_object(address);
	if (object == NULL) {
		bool has_changed = false;
		dl_iterate_phdr(on_loaded_object, &has_changed);
		object = find_known_object(address);
	}
	return object;
}

void gompi_insight_add_object(struct gompi_insight_thread *t, uintptr_t address) {
	(void)gompi_insight_is_in_bindings(t, address);
}

bool gompi_insight_is_in_bindings(struct gompi_insight_thread *t, uintptr_t address) {
	if (address - t->object_low < t->object_bytes)
		return false;
	if (address - t->binding_low < t->binding_bytes)
		return true;
	struct gompi_insight_object *object = find_or_load_object(address);
	if (object == NULL)
		return false;
	bool is = is_binding(object);
	*(is ? &t->binding_low : &t->object_low) = object->low;
	*(is ? &t->binding_bytes : &t->object_bytes) = object->high - object->low;
	return is;
}

uintptr_t gompi_insight_app_caller(struct gompi_insight_thread *t, uintptr_t address) {
	const uintptr_t *frame = (const uintptr_t *)t->frame;
	for (int depth = 0; depth < 8; depth++) {
		if (!gompi_insight_is_in_bindings(t, address))
			return address;
		// The bindings are compiled with frame pointers (scripts/fortran.sh).
		frame = (const uintptr_t *)frame[0];
		address = frame[1];
	}
	return address;
}
