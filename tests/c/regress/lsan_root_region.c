/* What went wrong: a program with LeakSanitizer ended with SIGBUS in some of its runs. The library registered 256 GiB
 * around Go's heap as a root region. That range contained pages of the kernel, which cannot be read.
 * Must hold: a root region that the library registers contains only anonymous memory, and is not larger than an arena
 * of Go's heap (64 MiB). This program replaces LeakSanitizer: it defines the function that registers root regions.
 * MPI-5.0 11.2
 * np: 1
 * ref: none (other libraries register no region)
 * timeout: 20
 */
#include <stdint.h>

#include "../check.h"

static uintptr_t region_start, region_bytes;
static int regions;

/* Records the region. The MPI library calls this function, if the program defines it, when the library is loaded. */
void __lsan_register_root_region(const void *start, size_t bytes);
void __lsan_register_root_region(const void *start, size_t bytes) {
	region_start = (uintptr_t)start;
	region_bytes = bytes;
	regions++;
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	CHECK(regions == 1, "%d regions", regions);
	CHECK(region_bytes <= 64 << 20, "the region has %zu bytes", (size_t)region_bytes);
	FILE *maps = fopen("/proc/self/maps", "r");
	CHECK(maps != NULL, "/proc/self/maps");
	int inside = 0;
	for (char line[512]; maps != NULL && fgets(line, sizeof line, maps) != NULL;) {
		unsigned long low, high;
		char name[256] = "";
		if (sscanf(line, "%lx-%lx %*s %*s %*s %*s %255s", &low, &high, name) < 2 || high <= region_start ||
		    low >= region_start + region_bytes)
			continue;
		inside++;
		CHECK(name[0] == 0 || strncmp(name, "[anon", 5) == 0, "the region contains %s", line);
	}
	if (maps != NULL)
		fclose(maps);
	CHECK(inside > 0, "the region is not mapped");
	return check_end();
}
