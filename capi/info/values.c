#include "info/values.h"

#include <errno.h>
#include <stdlib.h>

static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

struct gompi_text_view gompi_text_view_trim(struct gompi_text_view w) {
	for (; w.length > 0 && is_blank(w.at[0]); w.length--)
		w.at++;
	while (w.length > 0 && is_blank(w.at[w.length - 1]))
		w.length--;
	return w;
}

struct gompi_text_view gompi_text_view_next(struct gompi_text_view *remaining, char end, bool *last) {
	struct gompi_text_view item = *remaining;
	const char *to = memchr(remaining->at, end, remaining->length);
	*last = to == NULL;
	if (to != NULL) {
		item.length = (size_t)(to - item.at);
		remaining->at = to + 1;
		remaining->length -= item.length + 1;
	}
	return gompi_text_view_trim(item);
}

int gompi_value_index(struct gompi_text_view value, const char *const names[], int n) {
	value = gompi_text_view_trim(value);
	for (int i = 0; i < n; i++)
		if (gompi_text_view_equals(value, names[i]))
			return i;
	return -1;
}

bool gompi_value_number(struct gompi_text_view value, int64_t *number) {
	char *end;
	value = gompi_text_view_trim(value);
	errno = 0;
	*number = strtoll(value.at, &end, 10);
	return value.length > 0 && errno == 0 && end == value.at + value.length;
}

void gompi_memory_kinds_set(char **kinds, struct gompi_text_view value) {
	char *list = malloc(value.length + 1), *to = list;
	bool last_kind = list == NULL || gompi_text_view_trim(value).length == 0, last_part;
	while (!last_kind) {
		struct gompi_text_view kind = gompi_text_view_next(&value, ',', &last_kind);
		do {
			struct gompi_text_view part = gompi_text_view_next(&kind, ':', &last_part);
			for (size_t i = 0; i < part.length; i++)
				if (is_blank(part.at[i]))
					part.length = 0;
			if (part.length == 0) {
				free(list);
				return;
			}
			to = (char *)memcpy(to, part.at, part.length) + part.length;
			*to++ = last_part ? ',' : ':';
		} while (!last_part);
	}
	if (list == NULL)
		return;
	to[to > list ? -1 : 0] = 0; // the last separator
	free(*kinds);
	*kinds = list;
}

// Returns true if the library supports a memory allocation kind with all its restrictors.
static bool is_supported_kind(struct gompi_text_view kind) {
	static const char *const kinds[] = {"system", "mpi"};
	static const char *const restrictors[] = {"alloc_mem", "win_allocate", "win_allocate_shared"}; // of "mpi"
	bool last;
	int i = gompi_value_index(gompi_text_view_next(&kind, ':', &last), kinds, 2);
	while (!last)
		if (gompi_value_index(gompi_text_view_next(&kind, ':', &last), restrictors, 3) < 0 || i == 0)
			return false;
	return i >= 0;
}

void gompi_memory_kinds_add(struct gompi_info *x, const char *asserted, const char *requested) {
	char value[MPI_MAX_INFO_VAL] = "mpi,system";
	const char *kinds = asserted != NULL ? asserted : requested;
	char *to = asserted != NULL ? value : value + strlen(value), *const end = value + sizeof value - 1;
	struct gompi_text_view remaining = {kinds, kinds == NULL ? 0 : strlen(kinds)};
	for (bool last = kinds == NULL; !last;) {
		struct gompi_text_view kind = gompi_text_view_next(&remaining, ',', &last);
		bool is_listed = asserted == NULL && memchr(kind.at, ':', kind.length) == NULL;
		if (is_listed || !is_supported_kind(kind) || kind.length + 1 > (size_t)(end - to))
			continue;
		if (to > value)
			*to++ = ',';
		to = (char *)memcpy(to, kind.at, kind.length) + kind.length;
	}
	gompi_info_append(x, GOMPI_KEY_KINDS, strlen(GOMPI_KEY_KINDS), value, (size_t)(to - value));
}
