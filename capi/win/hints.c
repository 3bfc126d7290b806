// Reads the info keys that windows and MPI_Alloc_mem honour. Ignores unknown keys, and invalid values of the standard's
// keys: some programs contain values that no library has ever checked.
#include "win/hints.h"

#include <stdlib.h>

#include "info/values.h"

static const char *const truth[] = {"false", "true", "require"};

static int bad_value(struct gompi_verdict *v, const char *key, struct gompi_words value, const char *want) {
	return gompi_error(v, MPI_ERR_INFO_VALUE, "info key %s is \"%.*s\"; it must be %s", key, (int)value.n, value.at,
			   want);
}

// Sets a promise if the value is the second of two names, clears it if it is the first.
static int promise(struct gompi_hints *h, uint64_t bit, struct gompi_words value, const char *const names[2]) {
	int said = gompi_value_among(value, names, 2);
	if (said >= 0)
		h->common.promises = (h->common.promises & ~bit) | (said ? bit : 0);
	return MPI_SUCCESS;
}

static int set_order(struct gompi_hints *h, struct gompi_words value) {
	static const char *const names[] = {"rar", "raw", "war", "waw"}, *const none[] = {"none"};
	uint64_t promises = PROMISE_NO_ORDER;
	for (bool last = gompi_value_among(value, none, 1) == 0; !last;) {
		int i = gompi_value_among(gompi_words_next(&value, ',', &last), names, 4);
		if (i < 0)
			return MPI_SUCCESS;
		promises &= ~((uint64_t)PROMISE_NOT_RAR << i);
	}
	h->common.promises = (h->common.promises & ~(uint64_t)PROMISE_NO_ORDER) | promises;
	return MPI_SUCCESS;
}

static int take_hint(void *to, const char *key, size_t key_length, const char *text, size_t length,
		     struct gompi_verdict *v) {
	static const char *const ops[] = {"same_op_no_op", "same_op"};
	enum { MOST_ALIGNMENT = 1 << 30 };
	struct gompi_hints *h = to;
	struct gompi_words value = {text, length}, name = {key, key_length};
	int64_t number;
	if (gompi_words_are(name, "no_locks"))
		return promise(h, PROMISE_NO_LOCKS, value, truth);
	if (gompi_words_are(name, "same_size"))
		return promise(h, PROMISE_SAME_SIZE, value, truth);
	if (gompi_words_are(name, "same_disp_unit"))
		return promise(h, PROMISE_SAME_DISP_UNIT, value, truth);
	if (gompi_words_are(name, "alloc_shared_noncontig"))
		return promise(h, PROMISE_NONCONTIGUOUS, value, truth);
	if (gompi_words_are(name, "accumulate_ops"))
		return promise(h, PROMISE_SAME_OP, value, ops);
	if (gompi_words_are(name, "accumulate_ordering"))
		return set_order(h, value);
	if (gompi_words_are(name, "mpi_accumulate_granularity")) {
		if (gompi_value_number(value, &number) && number >= 0)
			h->common.granularity = (uint64_t)number;
	} else if (gompi_words_are(name, "mpi_minimum_memory_alignment")) {
		if (gompi_value_number(value, &number) && number >= 1 && (number & (number - 1)) == 0 &&
		    number <= MOST_ALIGNMENT)
			h->alignment = number < GOMPI_LEAST_ALIGNMENT ? GOMPI_LEAST_ALIGNMENT : number;
	} else if (gompi_words_are(name, GOMPI_KEY_ASSERT_KINDS)) {
		gompi_kinds_set(&h->kinds, value);
	} else if (gompi_words_are(name, "gompirma_huge_pages")) {
		int said = gompi_value_among(value, truth, 2);
		if (said < 0)
			return bad_value(v, key, value, "\"true\" or \"false\"");
		h->huge_pages = said;
	} else if (gompi_words_are(name, "gompirma_share_in_place")) {
		int said = gompi_value_among(value, truth, 3);
		if (said < 0)
			return bad_value(v, key, value, "\"true\", \"false\" or \"require\"");
		h->in_place = (uint8_t)said;
	}
	return MPI_SUCCESS;
}

// Stores which of the first n strings of `truth` an environment variable holds. 0 and an empty value stand for the
// first, 1 for the second.
static int of_environment(const char *variable, int n, int *said, struct gompi_verdict *v) {
	static const char *const numbers[] = {"0", "1"};
	const char *text = getenv(variable);
	struct gompi_words value = {text, text == NULL ? 0 : strlen(text)};
	value = gompi_words_trim(value);
	*said = value.n == 0 ? 0 : gompi_value_among(value, numbers, 2);
	if (*said < 0)
		*said = gompi_value_among(value, truth, n);
	if (*said >= 0)
		return MPI_SUCCESS;
	return gompi_error(v, MPI_ERR_INFO_VALUE,
			   "environment variable %s is \"%.*s\"; it must be 0, 1, false or true%s", variable,
			   (int)value.n, value.at, n > 2 ? ", require" : "");
}

int gompi_hints_take(struct gompi_hints *h, MPI_Info info, struct gompi_verdict *v) {
	return gompi_info_each(info, v, take_hint, h);
}

int gompi_hints_read(struct gompi_hints *h, MPI_Info info, struct gompi_verdict *v) {
	int in_place, huge = 0;
	*h = (struct gompi_hints){.alignment = GOMPI_LEAST_ALIGNMENT};
	int class = of_environment("GOMPIRMA_SHARE_IN_PLACE", 3, &in_place, v);
	if (class == MPI_SUCCESS)
		class = of_environment("GOMPIRMA_HUGE_PAGES", 2, &huge, v);
	if (class != MPI_SUCCESS)
		return class;
	h->in_place = (uint8_t)in_place;
	h->huge_pages = huge;
	class = gompi_hints_take(h, info, v);
	if (class != MPI_SUCCESS)
		free(h->kinds);
	return class;
}
