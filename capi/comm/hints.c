// The hints of communicators (MPI-5.0 7.4.4). MPI permits a library to ignore all hints. This library ignores them, and
// stores them only for MPI_Comm_get_info. The lock of info objects guards the hints. The calls neither block nor
// communicate.
#include <stdlib.h>

#include "comm/comm.h"
#include "comm/z_calls.h"
#include "info/values.h"
#include "session/session.h"

// The assertions, in the order in which MPI_Comm_get_info adds them. Each assertion is a bit of hints.asserted.
static const struct {
	const char *key;
	size_t length;
} assertions[] = {
#define ASSERTION(key) \
	{ key, sizeof(key) - 1 }
	ASSERTION("mpi_assert_no_any_tag"),
	ASSERTION("mpi_assert_no_any_source"),
	ASSERTION("mpi_assert_exact_length"),
	ASSERTION("mpi_assert_allow_overtaking"),
	ASSERTION("mpi_assert_strict_start_ordering"),
	ASSERTION("mpi_assert_strict_persistent_collective_ordering"),
#undef ASSERTION
};
enum { ASSERTIONS = sizeof assertions / sizeof *assertions };

static const char *const truth[] = {"false", "true"};

// Sets a hint from one pair of an info object. Ignores unknown keys and invalid values.
static int set_hint(void *to, const char *key, size_t key_length, const char *value, size_t length,
		    struct gompi_error_status *v) {
	struct gompi_comm_hints *hints = to;
	struct gompi_text_view words = {value, length};
	for (int i = 0; i < ASSERTIONS; i++) {
		if (key_length != assertions[i].length || memcmp(key, assertions[i].key, key_length) != 0)
			continue;
		int value_index = gompi_value_index(words, truth, 2);
		if (value_index >= 0)
			hints->asserted = (hints->asserted & ~(1U << i)) | (uint32_t)value_index << i;
		return MPI_SUCCESS;
	}
	if (strcmp(key, GOMPI_KEY_ASSERT_KINDS) == 0)
		gompi_memory_kinds_set(&hints->alloc_kinds, words);
	return MPI_SUCCESS;
}

int gompi_comm_hints_set(struct gompi_comm_hints *hints, MPI_Info info, struct gompi_error_status *v) {
	return gompi_info_for_each(info, v, set_hint, hints);
}

int gompi_comm_set_info(MPI_Comm comm, MPI_Info info) {
	static const char call[] = "MPI_Comm_set_info";
	struct gompi_error_status v;
	struct gompi_comm *c = gompi_comm_get(comm);
	if (c == NULL)
		return gompi_raise_invalid_comm(comm, call);
	int class = gompi_comm_hints_set(&c->hints, info, &v);
	return class == MPI_SUCCESS ? class : gompi_return_error(class, call, v.text, GOMPI_ON_COMM, (uintptr_t)comm);
}
GOMPI_ENTRY(MPI_Comm_set_info, gompi_comm_set_info);

int gompi_comm_get_info(MPI_Comm comm, MPI_Info *info_used) {
	static const char call[] = "MPI_Comm_get_info";
	struct gompi_error_status v;
	struct gompi_comm *c = gompi_comm_get(comm);
	if (c == NULL)
		return gompi_raise_invalid_comm(comm, call);
	if (info_used == NULL)
		return gompi_null_argument_error(call, "info_used", GOMPI_ON_COMM, (uintptr_t)comm);
	struct gompi_info *x = gompi_info_begin();
	for (int i = 0; i < ASSERTIONS; i++) {
		bool is_set = c->hints.asserted >> i & 1;
		gompi_info_append(x, assertions[i].key, assertions[i].length, truth[is_set], is_set ? 4 : 5);
	}
	if (c->hints.alloc_kinds != NULL)
		gompi_info_add(x, GOMPI_KEY_ASSERT_KINDS, c->hints.alloc_kinds);
	// The value of MPI_COMM_WORLD and MPI_COMM_SELF never changes: it is that of all objects without an assertion.
	bool is_predefined = c == &gompi_comm_world || c == &gompi_comm_self;
	gompi_memory_kinds_add(x, is_predefined ? NULL : c->hints.alloc_kinds, gompi_session_kinds(c->members.session));
	int class = gompi_info_finish(x, info_used, &v);
	return class == MPI_SUCCESS ? class : gompi_return_error(class, call, v.text, GOMPI_ON_COMM, (uintptr_t)comm);
}
GOMPI_ENTRY(MPI_Comm_get_info, gompi_comm_get_info);
