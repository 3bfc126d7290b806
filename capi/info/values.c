#include "info/values.h"

#include <errno.h>
#include <stdlib.h>

static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

struct gompi_words gompi_words_trim(struct gompi_words w) {
	for (; w.n > 0 && is_blank(w.at[0]); w.n--)
		w.at++;
	while (w.n > 0 && is_blank(w.at[w.n - 1]))
		w.n--;
	return w;
}

struct gompi_words gompi_words_next(struct gompi_words *rest, char end, bool *last) {
	struct gompi_words part = *rest;
	const char *to = memchr(rest->at, end, rest->n);
	*last = to == NULL;
	if (to != NULL) {
		part.n = (size_t)(to - part.at);
		rest->at = to + 1;
		rest->n -= part.n + 1;
	}
	return gompi_words_trim(part);
}

int gompi_value_among(struct gompi_words value, const char *const names[], int n) {
	value = gompi_words_trim(value);
	for (int i = 0; i < n; i++)
		if (gompi_words_are(value, names[i]))
			return i;
	return -1;
}

bool gompi_value_number(struct gompi_words value, int64_t *number) {
	char *end;
	value = gompi_words_trim(value);
	errno = 0;
	*number = strtoll(value.at, &end, 10);
	return value.n > 0 && errno == 0 && end == value.at + value.n;
}

void gompi_kinds_set(char **kinds, struct gompi_words value) {
	char *list = malloc(value.n + 1), *to = list;
	bool last_kind = list == NULL, last_part;
	while (!last_kind) {
		struct gompi_words kind = gompi_words_next(&value, ',', &last_kind);
		do {
			struct gompi_words part = gompi_words_next(&kind, ':', &last_part);
			for (size_t i = 0; i < part.n; i++)
				if (is_blank(part.at[i]))
					part.n = 0;
			if (part.n == 0) {
				free(list);
				return;
			}
			to = (char *)memcpy(to, part.at, part.n) + part.n;
			*to++ = last_part ? ',' : ':';
		} while (!last_part);
	}
	if (list == NULL)
		return;
	to[-1] = 0;
	free(*kinds);
	*kinds = list;
}

void gompi_kinds_add(struct gompi_info *x, const char *kinds) {
	static const char *const here[] = {"mpi", "system"};
	if (kinds == NULL) {
		gompi_info_add(x, GOMPI_KEY_KINDS, "mpi,system");
		return;
	}
	char both[MPI_MAX_INFO_VAL], *to = both;
	struct gompi_words rest = {kinds, strlen(kinds)};
	for (bool last = false; !last;) {
		struct gompi_words kind = gompi_words_next(&rest, ',', &last), restrictors = kind;
		bool none;
		if (gompi_value_among(gompi_words_next(&restrictors, ':', &none), here, 2) < 0)
			continue;
		if (to > both)
			*to++ = ',';
		to = (char *)memcpy(to, kind.at, kind.n) + kind.n;
	}
	gompi_info_append(x, GOMPI_KEY_KINDS, strlen(GOMPI_KEY_KINDS), both, (size_t)(to - both));
}
