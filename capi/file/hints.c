#include "file/hints.h"

#include <stdio.h>
#include <stdlib.h>

#include "file/two_phase.h"
#include "info/values.h"
#include "session/session.h"

// The words that are values of hints: `choices` in the order of enum gompi_file_choice, `switches` for hints that are
// false (0) or true (1).
static const char *const choices[] = {"automatic", "enable", "disable"}, *const switches[] = {"false", "true"};

// The hints in the order of enum gompi_file_hint. `words` is NULL if the value is a number. A number below `minimum` is
// ignored.
static const struct hint {
	const char *key;
	const char *const *words;
	int word_count;
	int64_t minimum, standard; // standard: the default
} known[GOMPI_FILE_HINTS] = {
	{"cb_nodes", NULL, 0, 1, 1},
	{"cb_buffer_size", NULL, 0, 1, 512 << 10},
	{"romio_cb_read", choices, 3, 0, GOMPI_FILE_AUTOMATIC},
	{"romio_cb_write", choices, 3, 0, GOMPI_FILE_AUTOMATIC},
	{"romio_ds_read", choices, 3, 0, GOMPI_FILE_AUTOMATIC},
	{"romio_ds_write", choices, 3, 0, GOMPI_FILE_AUTOMATIC},
	{"romio_no_indep_rw", switches, 2, 0, 0},
	{"ind_rd_buffer_size", NULL, 0, 1, 4 << 20},
	{"ind_wr_buffer_size", NULL, 0, 1, 512 << 10},
	{"striping_factor", NULL, 0, 0, 0},
	{"striping_unit", NULL, 0, 0, 0},
	{"file_perm", NULL, 0, 0, -1},
};

// The keys of gompi_file_hints.text.
static const char *const text_keys[GOMPI_FILE_TEXT_HINTS] = {"access_style", "chunked", "chunked_item", "chunked_size",
							     "io_node_list"};

void gompi_file_hints_default(struct gompi_file_hints *hints, int cb_nodes) {
	for (int i = 0; i < GOMPI_FILE_HINTS; i++)
		hints->value[i] = known[i].standard;
	hints->value[GOMPI_HINT_CB_NODES] = cb_nodes;
	memset(hints->text, 0, sizeof hints->text);
	hints->has_alloc_kinds = false;
}

// Returns the index of a key among the known hints, GOMPI_FILE_HINTS + its index in text_keys, or -1.
static int hint_index(struct gompi_text_view key) {
	for (int i = 0; i < GOMPI_FILE_HINTS + GOMPI_FILE_TEXT_HINTS; i++)
		if (gompi_text_view_equals(key, i < GOMPI_FILE_HINTS ? known[i].key : text_keys[i - GOMPI_FILE_HINTS]))
			return i;
	return -1;
}

// Sets a hint; ignores an unknown key or an invalid value. The key collective_buffering, which MPI defines, sets the
// two hints romio_cb_read and romio_cb_write.
static void set_file_hint(struct gompi_file_hints *hints, struct gompi_text_view key, struct gompi_text_view value) {
	int i = hint_index(key);
	int64_t number;
	value = gompi_text_view_trim(value);
	if (gompi_text_view_equals(key, "collective_buffering")) {
		int on = gompi_value_index(value, switches, 2);
		if (on >= 0)
			hints->value[GOMPI_HINT_CB_READ] = hints->value[GOMPI_HINT_CB_WRITE] =
				on ? GOMPI_FILE_ENABLE : GOMPI_FILE_DISABLE;
	} else if (i >= GOMPI_FILE_HINTS) {
		if (value.length < GOMPI_FILE_TEXT_BYTES) {
			memcpy(hints->text[i - GOMPI_FILE_HINTS], value.at, value.length);
			hints->text[i - GOMPI_FILE_HINTS][value.length] = 0;
		}
	} else if (gompi_text_view_equals(key, GOMPI_KEY_ASSERT_KINDS) && value.length < sizeof hints->alloc_kinds) {
		char *kinds = NULL;
		gompi_memory_kinds_set(&kinds, value);
		if (kinds == NULL)
			return;
		strcpy(hints->alloc_kinds, kinds); // not longer than the value
		hints->has_alloc_kinds = true;
		free(kinds);
	} else if (i == GOMPI_HINT_FILE_PERM) {
		// an octal number, as in chmod(1)
		int64_t mode = 0;
		size_t n = 0;
		while (n < value.length && value.at[n] >= '0' && value.at[n] <= '7' && mode <= 0777)
			mode = mode * 8 + (value.at[n++] - '0');
		if (n == value.length && n > 0 && mode <= 0777)
			hints->value[i] = mode;
	} else if (i >= 0 && known[i].words != NULL) {
		int word = gompi_value_index(value, known[i].words, known[i].word_count);
		if (word >= 0)
			hints->value[i] = word;
	} else if (i >= 0 && gompi_value_number(value, &number) && number >= known[i].minimum) {
		hints->value[i] = number;
	}
}

static int set_file_pair(void *to, const char *key, size_t key_length, const char *value, size_t length,
			 struct gompi_error_status *v) {
	(void)v;
	set_file_hint(to, (struct gompi_text_view){key, key_length}, (struct gompi_text_view){value, length});
	return MPI_SUCCESS;
}

int gompi_file_hints_read(struct gompi_file_hints *hints, MPI_Info info, struct gompi_error_status *v) {
	return gompi_info_for_each(info, v, set_file_pair, hints);
}

void gompi_file_hints_read_environment(struct gompi_file_hints *hints) {
	const char *name = getenv("ROMIO_HINTS");
	FILE *file = name != NULL ? fopen(name, "re") : NULL;
	if (file == NULL)
		return;
	char line[MPI_MAX_INFO_KEY + MPI_MAX_INFO_VAL];
	// If several lines have the same key, the first one applies, as in ROMIO.
	bool is_set[GOMPI_FILE_HINTS + GOMPI_FILE_TEXT_HINTS] = {false};
	while (fgets(line, sizeof line, file) != NULL) {
		char *key = strtok(line, " \t\n"), *value = strtok(NULL, "\n");
		if (key == NULL || value == NULL || key[0] == '#')
			continue;
		const struct gompi_text_view key_view = {key, strlen(key)};
		int i = hint_index(key_view);
		if (i >= 0 && is_set[i])
			continue;
		if (i >= 0)
			is_set[i] = true;
		set_file_hint(hints, key_view, (struct gompi_text_view){value, strlen(value)});
	}
	fclose(file);
}

int gompi_file_hints_info(const struct gompi_file *f, MPI_Info *info, struct gompi_error_status *v) {
	struct gompi_info *x = gompi_info_begin();
	for (int i = 0; i < GOMPI_FILE_HINTS; i++) {
		char number[24];
		int64_t value = f->hints.value[i];
		if (i == GOMPI_HINT_CB_NODES || i == GOMPI_HINT_CB_BUFFER_SIZE || i == GOMPI_HINT_STRIPING_UNIT)
			value = gompi_file_two_phase_hint(f, i);
		if (i == GOMPI_HINT_FILE_PERM && value < 0)
			continue;
		snprintf(number, sizeof number, i == GOMPI_HINT_FILE_PERM ? "%llo" : "%lld", (long long)value);
		gompi_info_add(x, known[i].key, known[i].words != NULL ? known[i].words[value] : number);
	}
	gompi_info_add(x, "collective_buffering", switches[f->hints.value[GOMPI_HINT_CB_WRITE] != GOMPI_FILE_DISABLE]);
	for (int i = 0; i < GOMPI_FILE_TEXT_HINTS; i++)
		if (f->hints.text[i][0] != 0)
			gompi_info_add(x, text_keys[i], f->hints.text[i]);
	gompi_info_add(x, "cb_config_list", "*:*"); // only cb_nodes limits the number of aggregators of a host
	const char *asserted = f->hints.has_alloc_kinds ? f->hints.alloc_kinds : NULL;
	if (asserted != NULL)
		gompi_info_add(x, GOMPI_KEY_ASSERT_KINDS, asserted);
	gompi_memory_kinds_add(x, asserted, gompi_session_kinds(gompi_comm_get(f->comm)->members.session));
	char processes[12];
	snprintf(processes, sizeof processes, "%d", f->size);
	gompi_info_add(x, "nb_proc", processes);
	gompi_info_add(x, "filename", f->name);
	return gompi_info_finish(x, info, v);
}
