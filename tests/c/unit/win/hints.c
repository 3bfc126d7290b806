/* Proves: the info keys of windows (win/hints.h) have the effects that docs/ONE-SIDED.md describes. Blanks around
 * values are ignored. Unknown keys, and invalid values of the standard's keys, change nothing. An invalid value of one
 * of gompirma's own keys gives MPI_ERR_INFO_VALUE, and the error text names the key. Environment variables are the
 * defaults for keys that are not given. Blanks are removed from lists of memory kinds. The key mpi_memory_alloc_kinds
 * has only the supported kinds, and is not longer than MPI permits.
 *
 * sanitizer: address (one thread)
 */
#include "../unit.h"

#include "info/values.h"
#include "info/z_calls.h"
#include "win/hints.h"

static struct gompi_error_status verdict;

/* Reads hints from an info object with several keys, then applies one more key. Returns the error class. */
static int read_hints(struct gompi_hints *h, const char *key, const char *value) {
	static const char *const given[][2] = {
		{"accumulate_ordering", "rar"},           {"accumulate_ops", "same_op"},
		{"mpi_accumulate_granularity", "8"},      {"mpi_minimum_memory_alignment", "256"},
		{"mpi_assert_memory_alloc_kinds", "mpi"}, {"unknown", "x"}};
	MPI_Info before, info;
	CHECK(gompi_info_create(&before) == MPI_SUCCESS && gompi_info_create(&info) == MPI_SUCCESS, "no info");
	for (int i = 0; i < 6; i++)
		gompi_info_set(before, given[i][0], given[i][1]);
	gompi_info_set(info, key, value);
	int class = gompi_hints_read(h, before, &verdict);
	if (class == MPI_SUCCESS)
		class = gompi_hints_apply(h, info, &verdict);
	gompi_info_free(&before);
	gompi_info_free(&info);
	return class;
}

enum { RAR = PROMISE_NOT_RAR, RAW = 2 * RAR, WAR = 4 * RAR, WAW = 8 * RAR };
enum { GIVEN = PROMISE_SAME_OP | RAW | WAR | WAW };

static void values(void) {
	static const struct {
		const char *key, *value;
		uint64_t promises, granularity;
		int64_t alignment;
		const char *kinds;
	} of[] = {
		{"no_locks", "true", GIVEN | PROMISE_NO_LOCKS, 8, 256, "mpi"},
		{"no_locks", " false\t", GIVEN, 8, 256, "mpi"},
		{"same_size", "true", GIVEN | PROMISE_SAME_SIZE, 8, 256, "mpi"},
		{"same_disp_unit", " true", GIVEN | PROMISE_SAME_DISP_UNIT, 8, 256, "mpi"},
		{"alloc_shared_noncontig", "true", GIVEN | PROMISE_NONCONTIGUOUS, 8, 256, "mpi"},
		{"accumulate_ops", "same_op_no_op", RAW | WAR | WAW, 8, 256, "mpi"},
		{"accumulate_ordering", "none", PROMISE_SAME_OP | PROMISE_NO_ORDER, 8, 256, "mpi"},
		{"accumulate_ordering", "waw, raw", PROMISE_SAME_OP | RAR | WAR, 8, 256, "mpi"},
		{"accumulate_ordering", "war,waw,rar,raw", PROMISE_SAME_OP, 8, 256, "mpi"},
		{"mpi_accumulate_granularity", "64", GIVEN, 64, 256, "mpi"},
		{"mpi_accumulate_granularity", "0", GIVEN, 0, 256, "mpi"},
		{"mpi_accumulate_granularity", "9223372036854775807", GIVEN, INT64_MAX, 256, "mpi"},
		{"mpi_minimum_memory_alignment", " 4096 ", GIVEN, 8, 4096, "mpi"},
		{"mpi_minimum_memory_alignment", "1", GIVEN, 8, 64, "mpi"},
		{"mpi_assert_memory_alloc_kinds", " system , mpi:alloc_mem : win_allocate", GIVEN, 8, 256,
		 "system,mpi:alloc_mem:win_allocate"},
		{"mpi_assert_memory_alloc_kinds", " ", GIVEN, 8, 256, ""}, /* no kinds */
		/* invalid values of the standard's keys change nothing */
		{"no_locks", "yes", GIVEN, 8, 256, "mpi"},
		{"no_locks", "TRUE", GIVEN, 8, 256, "mpi"},
		{"same_size", "", GIVEN, 8, 256, "mpi"},
		{"same_disp_unit", "require", GIVEN, 8, 256, "mpi"},
		{"accumulate_ops", "same_op_no_op,", GIVEN, 8, 256, "mpi"},
		{"accumulate_ordering", "", GIVEN, 8, 256, "mpi"},
		{"accumulate_ordering", "raw,waw,none", GIVEN, 8, 256, "mpi"},
		{"accumulate_ordering", "rar,", GIVEN, 8, 256, "mpi"},
		{"accumulate_ordering", "rar waw", GIVEN, 8, 256, "mpi"},
		{"mpi_accumulate_granularity", "-1", GIVEN, 8, 256, "mpi"},
		{"mpi_accumulate_granularity", "8k", GIVEN, 8, 256, "mpi"},
		{"mpi_accumulate_granularity", "99999999999999999999", GIVEN, 8, 256, "mpi"},
		{"mpi_accumulate_granularity", "", GIVEN, 8, 256, "mpi"},
		{"mpi_minimum_memory_alignment", "48", GIVEN, 8, 256, "mpi"},
		{"mpi_minimum_memory_alignment", "0", GIVEN, 8, 256, "mpi"},
		{"mpi_minimum_memory_alignment", "2147483648", GIVEN, 8, 256, "mpi"},
		{"mpi_minimum_memory_alignment", "1e3", GIVEN, 8, 256, "mpi"},
		{"mpi_assert_memory_alloc_kinds", "system,,mpi", GIVEN, 8, 256, "mpi"},
		{"mpi_assert_memory_alloc_kinds", "system,", GIVEN, 8, 256, "mpi"},
		{"mpi_assert_memory_alloc_kinds", "mpi:", GIVEN, 8, 256, "mpi"},
		{"mpi_assert_memory_alloc_kinds", ":alloc_mem", GIVEN, 8, 256, "mpi"},
		{"mpi_assert_memory_alloc_kinds", "mpi alloc_mem", GIVEN, 8, 256, "mpi"},
		{"mpi_memory_alloc_kinds", "cuda", GIVEN, 8, 256, "mpi"},
	};
	for (unsigned i = 0; i < sizeof of / sizeof *of; i++) {
		struct gompi_hints h;
		CHECK(read_hints(&h, of[i].key, of[i].value) == MPI_SUCCESS, "%s=%s", of[i].key, of[i].value);
		CHECK(h.common.promises == of[i].promises && h.common.granularity == of[i].granularity &&
			      h.alignment == of[i].alignment && h.kinds != NULL && strcmp(h.kinds, of[i].kinds) == 0 &&
			      !h.huge_pages && h.in_place == GOMPI_IN_PLACE_OFF && h.shared_in_place == NULL,
		      "%s=%s: promises %#llx, granularity %llu, alignment %lld, kinds %s", of[i].key, of[i].value,
		      (unsigned long long)h.common.promises, (unsigned long long)h.common.granularity,
		      (long long)h.alignment, h.kinds);
		free(h.kinds);
	}
}

static void own_keys(void) {
	struct gompi_hints h;
	CHECK(read_hints(&h, "gompirma_huge_pages", " true ") == MPI_SUCCESS && h.huge_pages, "huge pages");
	free(h.kinds);
	CHECK(read_hints(&h, "gompirma_share_in_place", "require") == MPI_SUCCESS &&
		      h.in_place == GOMPI_IN_PLACE_REQUIRED,
	      "in place: %d", h.in_place);
	free(h.kinds);
	CHECK(read_hints(&h, "gompirma_huge_pages", "2M") == MPI_ERR_INFO_VALUE &&
		      strstr(verdict.text, "gompirma_huge_pages is \"2M\"; it must be \"true\" or \"false\"") != NULL,
	      "%s", verdict.text);
	free(h.kinds);
	CHECK(read_hints(&h, "gompirma_share_in_place", "hot") == MPI_ERR_INFO_VALUE &&
		      strstr(verdict.text, "gompirma_share_in_place is \"hot\"") != NULL,
	      "%s", verdict.text);
	free(h.kinds);
	CHECK(gompi_hints_read(&h, (MPI_Info)(uintptr_t)12345, &verdict) == MPI_ERR_INFO, "no info object");
}

static void environment(void) {
	static const struct {
		const char *value;
		bool huge;
	} of[] = {{"", false}, {"1", true}, {"true", true}, {"0", false}, {" false ", false}};
	struct gompi_hints h;
	for (unsigned i = 0; i < sizeof of / sizeof *of; i++) {
		setenv("GOMPIRMA_HUGE_PAGES", of[i].value, 1);
		CHECK(gompi_hints_read(&h, MPI_INFO_NULL, &verdict) == MPI_SUCCESS && h.huge_pages == of[i].huge &&
			      h.alignment == GOMPI_MIN_ALIGNMENT && h.common.promises == 0,
		      "\"%s\": %d", of[i].value, h.huge_pages);
		CHECK(read_hints(&h, "gompirma_huge_pages", "false") == MPI_SUCCESS && !h.huge_pages,
		      "info goes before environment");
		free(h.kinds);
	}
	setenv("GOMPIRMA_HUGE_PAGES", "require", 1);
	CHECK(gompi_hints_read(&h, MPI_INFO_NULL, &verdict) == MPI_ERR_INFO_VALUE &&
		      strstr(verdict.text, "GOMPIRMA_HUGE_PAGES is \"require\"; it must be 0, 1, false or true") !=
			      NULL,
	      "%s", verdict.text);
	setenv("GOMPIRMA_HUGE_PAGES", "0", 1);
	setenv("GOMPIRMA_SHARE_IN_PLACE", "require", 1);
	CHECK(gompi_hints_read(&h, MPI_INFO_NULL, &verdict) == MPI_SUCCESS && h.in_place == GOMPI_IN_PLACE_REQUIRED,
	      "in place: %d", h.in_place);
}

static void kinds(void) {
	static const char *const of[][3] = {
		/* asserted, requested, reported */
		{NULL, NULL, "mpi,system"},
		{NULL, "", "mpi,system"},
		{NULL, "system,cuda,mpi:win_allocate,mpi:alloc_mem:win_allocate_shared,mpi",
		 "mpi,system,mpi:win_allocate,mpi:alloc_mem:win_allocate_shared"},
		{NULL, "mpi:device,mpi:alloc_mem:device,system:alloc_mem", "mpi,system"},
		{"system", "mpi:alloc_mem", "system"},
		{"mpi:alloc_mem,system,cuda:device", NULL, "mpi:alloc_mem,system"},
		{"mpi:device,mpi", NULL, "mpi"},
		{"rocm:host", NULL, ""},
		{"", NULL, ""},
	};
	for (unsigned i = 0; i < sizeof of / sizeof *of; i++) {
		char value[MPI_MAX_INFO_VAL];
		MPI_Info info;
		struct gompi_info *x = gompi_info_begin();
		gompi_memory_kinds_add(x, of[i][0], of[i][1]);
		CHECK(gompi_info_finish(x, &info, &verdict) == MPI_SUCCESS, "no info");
		CHECK(gompi_info_value(info, GOMPI_KEY_KINDS, value, &verdict) == MPI_SUCCESS &&
			      strcmp(value, of[i][2]) == 0,
		      "%s, %s: %s", of[i][0], of[i][1], value);
		gompi_info_free(&info);
	}
	/* the list ends before the kind that would make the value longer than MPI permits */
	char value[MPI_MAX_INFO_VAL], many[MPI_MAX_INFO_VAL] = "mpi:alloc_mem";
	while (strlen(many) + sizeof ",mpi:alloc_mem" <= sizeof many)
		strcat(many, ",mpi:alloc_mem");
	MPI_Info info;
	struct gompi_info *x = gompi_info_begin();
	gompi_memory_kinds_add(x, NULL, many);
	CHECK(gompi_info_finish(x, &info, &verdict) == MPI_SUCCESS, "no info");
	CHECK(gompi_info_value(info, GOMPI_KEY_KINDS, value, &verdict) == MPI_SUCCESS &&
		      strncmp(value, "mpi,system,mpi:alloc_mem,", 25) == 0 &&
		      strcmp(value + strlen(value) - 10, ":alloc_mem") == 0 &&
		      strlen(value) + sizeof ",mpi:alloc_mem" > sizeof value,
	      "%zu bytes: %s", strlen(value), value);
	gompi_info_free(&info);
}

int main(void) {
	unit_node(1);
	unsetenv("GOMPIRMA_HUGE_PAGES");
	unsetenv("GOMPIRMA_SHARE_IN_PLACE");
	values();
	own_keys();
	environment();
	kinds();
	return unit_end();
}
