// Reads the info keys that windows and MPI_Alloc_mem honour. Ignores unknown keys, and invalid values of the standard's
// keys: some programs contain values that no library has ever checked.
#include "win/hints.h"

#include <stdlib.h>

#include "base/atomics.h"
#include "info/values.h"

static const char *const bool_names[] = {"false", "true", "require"};

static int bad_value(struct gompi_error_status *v, const char *key, struct gompi_text_view value,
		     const char *expected) {
	return gompi_set_error(v, MPI_ERR_INFO_VALUE, "info key %s is \"%.*s\"; it must be %s", key, (int)value.length,
			       value.at, expected);
}

// Sets a promise if the value is the second of two names. Clears the promise if the value is the first name. Ignores
// any other value.
static int set_promise(struct gompi_hints *h, uint64_t bit, struct gompi_text_view value, const char *const names[2]) {
	int choice = gompi_value_index(value, names, 2);
	if (choice >= 0)
		h->common.promises = (h->common.promises & ~bit) | (choice ? bit : 0);
	return MPI_SUCCESS;
}

static int set_order(struct gompi_hints *h, struct gompi_text_view value) {
	static const char *const names[] = {"rar", "raw", "war", "waw"}, *const none[] = {"none"};
	uint64_t promises = PROMISE_NO_ORDER;
	for (bool last = gompi_value_index(value, none, 1) == 0; !last;) {
		int i = gompi_value_index(gompi_text_view_next(&value, ',', &last), names, 4);
		if (i < 0)
			return MPI_SUCCESS;
		promises &= ~((uint64_t)PROMISE_NOT_RAR << i);
	}
	h->common.promises = (h->common.promises & ~(uint64_t)PROMISE_NO_ORDER) | promises;
	return MPI_SUCCESS;
}

static int apply_hint(void *to, const char *key, size_t key_length, const char *text, size_t length,
		      struct gompi_error_status *v) {
	static const char *const ops[] = {"same_op_no_op", "same_op"};
	enum { MAX_ALIGNMENT = 1 << 30 };
	struct gompi_hints *h = to;
	struct gompi_text_view value = {text, length}, name = {key, key_length};
	int64_t number;
	if (gompi_text_view_equals(name, "no_locks"))
		return set_promise(h, PROMISE_NO_LOCKS, value, bool_names);
	if (gompi_text_view_equals(name, "same_size"))
		return set_promise(h, PROMISE_SAME_SIZE, value, bool_names);
	if (gompi_text_view_equals(name, "same_disp_unit"))
		return set_promise(h, PROMISE_SAME_DISP_UNIT, value, bool_names);
	if (gompi_text_view_equals(name, "alloc_shared_noncontig"))
		return set_promise(h, PROMISE_NONCONTIGUOUS, value, bool_names);
	if (gompi_text_view_equals(name, "accumulate_ops"))
		return set_promise(h, PROMISE_SAME_OP, value, ops);
	if (gompi_text_view_equals(name, "accumulate_ordering"))
		return set_order(h, value);
	if (gompi_text_view_equals(name, "mpi_accumulate_granularity")) {
		if (gompi_value_number(value, &number) && number >= 0)
			h->common.granularity = (uint64_t)number;
	} else if (gompi_text_view_equals(name, "mpi_minimum_memory_alignment")) {
		if (gompi_value_number(value, &number) && number >= 1 && (number & (number - 1)) == 0 &&
		    number <= MAX_ALIGNMENT)
			h->alignment = number < GOMPI_MIN_ALIGNMENT ? GOMPI_MIN_ALIGNMENT : number;
	} else if (gompi_text_view_equals(name, GOMPI_KEY_ASSERT_KINDS)) {
		gompi_memory_kinds_set(&h->kinds, value);
	} else if (gompi_text_view_equals(name, "gompirma_huge_pages")) {
		int choice = gompi_value_index(value, bool_names, 2);
		if (choice < 0)
			return bad_value(v, key, value, "\"true\" or \"false\"");
		h->huge_pages = choice;
	} else if (gompi_text_view_equals(name, "gompirma_share_in_place")) {
		int choice = gompi_value_index(value, bool_names, 3);
		if (choice < 0)
			return bad_value(v, key, value, "\"true\", \"false\" or \"require\"");
		h->in_place = (uint8_t)choice;
	}
	return MPI_SUCCESS;
}

// Defaults that gompi_hint_set_default has set, as index in bool_names + 1; 0 if it has not been called.
static gompi_a32 set_defaults[GOMPI_DEFAULT_HINTS];

void gompi_hint_set_default(enum gompi_default_hint hint, int choice) {
	gompi_store(&set_defaults[hint], (uint32_t)choice + 1);
}

// Stores the index of the value in bool_names: 0 for the value 0, an empty value or an unset variable, 1 for the value
// 1.
int gompi_hint_default(enum gompi_default_hint hint, int *choice, struct gompi_error_status *v) {
	static const char *const numbers[] = {"0", "1"};
	const bool may_require = hint == HINT_SHARE_IN_PLACE;
	const char *variable = may_require ? "GOMPIRMA_SHARE_IN_PLACE" : "GOMPIRMA_HUGE_PAGES";
	uint32_t set = gompi_load(&set_defaults[hint]);
	if (set != 0) {
		*choice = (int)set - 1;
		return MPI_SUCCESS;
	}
	const char *text = getenv(variable);
	struct gompi_text_view value = {text, text == NULL ? 0 : strlen(text)};
	value = gompi_text_view_trim(value);
	*choice = value.length == 0 ? 0 : gompi_value_index(value, numbers, 2);
	if (*choice < 0)
		*choice = gompi_value_index(value, bool_names, may_require ? 3 : 2);
	if (*choice >= 0)
		return MPI_SUCCESS;
	return gompi_set_error(v, MPI_ERR_INFO_VALUE, "environment variable %s is \"%.*s\"; it must be 0, 1, false%s",
			       variable, (int)value.length, value.at, may_require ? ", true or require" : " or true");
}

int gompi_hints_apply(struct gompi_hints *h, MPI_Info info, struct gompi_error_status *v) {
	return gompi_info_for_each(info, v, apply_hint, h);
}

int gompi_hints_read(struct gompi_hints *h, MPI_Info info, struct gompi_error_status *v) {
	int in_place, huge = 0;
	*h = (struct gompi_hints){.alignment = GOMPI_MIN_ALIGNMENT};
	int class = gompi_hint_default(HINT_SHARE_IN_PLACE, &in_place, v);
	if (class == MPI_SUCCESS)
		class = gompi_hint_default(HINT_HUGE_PAGES, &huge, v);
	if (class != MPI_SUCCESS)
		return class;
	h->in_place = (uint8_t)in_place;
	h->huge_pages = huge;
	class = gompi_hints_apply(h, info, v);
	if (class != MPI_SUCCESS)
		free(h->kinds);
	return class;
}
