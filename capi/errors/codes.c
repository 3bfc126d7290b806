#include "errors/codes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/biased.h"
#include "base/verdict.h"
#include "errors/z_calls.h"
#include "errors/z_classes.h"

enum { FIRST_CODE = MPI_ERR_LASTCODE + 1, SMALL_CLASSES = 64, TOOL_CLASSES = 1000, CLASSES = 128 };

// Where a predefined class is in the table: there are small numbers, and from 1,000 on those of MPI_T_.
#define CLASS_AT(class) ((class) < SMALL_CLASSES ? (class) : (class) - TOOL_CLASSES + SMALL_CLASSES)
#define CLASS(class, text) [CLASS_AT(class)] = {#class, text},
static const struct class { const char *name, *text; } classes[CLASSES] = {GOMPI_ERROR_CLASSES(CLASS)};

// A class or code that was added.
struct added_code {
	bool live;
	int class;  // of a class its own number
	int codes;  // of a class: codes of it that exist
	char *text; // NULL: none
	int before; // of those that were removed: the one that was before it, 0: none
};

// What all that changes is under: a few instructions, and copies of texts.
static struct gompi_biased codes_lock;
static struct added_code *added; // number FIRST_CODE + i
static int added_codes, added_room, last_removed;
static char *recent[CLASSES]; // what the latest error of a class was about

int gompi_last_used_code = MPI_ERR_LASTCODE;

static const struct class *predefined_class(int n) {
	bool small = (uint32_t)n < SMALL_CLASSES;
	uint32_t at = small ? (uint32_t)n : (uint32_t)n - TOOL_CLASSES + SMALL_CLASSES;
	return (small || (at >= SMALL_CLASSES && at < CLASSES)) && classes[at].name != NULL ? &classes[at] : NULL;
}

const char *gompi_error_class_name(int class) {
	const struct class *c = predefined_class(class);
	return c != NULL ? c->name : NULL;
}

// The lock is held.
static struct added_code *added_at(int n) {
	int i = n - FIRST_CODE;
	return n >= FIRST_CODE && i < added_codes && added[i].live ? &added[i] : NULL;
}

// Returns the number of a new code of a class, or of a class; 0: there is no memory. The lock is held.
static int add_locked(bool is_class, int class) {
	int n = last_removed;
	if (n != 0) {
		last_removed = added[n - FIRST_CODE].before;
	} else {
		if (added_codes == added_room) {
			int room = added_room == 0 ? 16 : 2 * added_room;
			struct added_code *more = realloc(added, (size_t)room * sizeof *more);
			if (more == NULL)
				return 0;
			added = more;
			added_room = room;
		}
		n = FIRST_CODE + added_codes++;
		gompi_last_used_code = n;
	}
	added[n - FIRST_CODE] = (struct added_code){.live = true, .class = is_class ? n : class};
	return n;
}

static void remove_locked(int n) {
	free(added[n - FIRST_CODE].text);
	added[n - FIRST_CODE] = (struct added_code){.before = last_removed};
	last_removed = n;
}

static int raise_verdict(const char *call, const struct gompi_verdict *v) {
	return gompi_refuse(v->class, call, v->text, GOMPI_ON_NONE, 0);
}

static int code_done(const char *call, int rc, const struct gompi_verdict *v) {
	gompi_biased_give(&codes_lock);
	return rc == MPI_SUCCESS ? rc : raise_verdict(call, v);
}

int gompi_error_class_of(int code) {
	if (predefined_class(code) != NULL || code == MPI_ERR_LASTCODE)
		return code;
	gompi_biased_take(&codes_lock);
	const struct added_code *c = added_at(code);
	int class = c != NULL ? c->class : -1;
	gompi_biased_give(&codes_lock);
	return class;
}

void gompi_error_remember(int class, const char *text) {
	const struct class *c = predefined_class(class);
	if (c == NULL)
		return;
	char **to = &recent[c - classes];
	size_t n = strnlen(text, MPI_MAX_ERROR_STRING - 1);
	gompi_biased_take(&codes_lock);
	if (*to == NULL)
		*to = malloc(MPI_MAX_ERROR_STRING);
	if (*to != NULL) {
		memcpy(*to, text, n);
		(*to)[n] = 0;
	}
	gompi_biased_give(&codes_lock);
}

int gompi_error_text(int code, char *text) {
	const struct class *class = predefined_class(code);
	const char *text_of = NULL; // an added code's, or about a class
	char *at = text;
	gompi_biased_take(&codes_lock);
	const struct added_code *c = added_at(code);
	if (class != NULL) {
		at = stpcpy(stpcpy(stpcpy(at, class->name), ": "), class->text); // short
		text_of = recent[class - classes];
		if (text_of != NULL)
			at = stpcpy(at, " (");
	} else if (code == MPI_ERR_LASTCODE) { // no error is of this class, but MPI's table of classes ends with it
		at = stpcpy(at, "MPI_ERR_LASTCODE: last error code");
	} else if (c != NULL) {
		text_of = c->text;
	}
	size_t room = MPI_MAX_ERROR_STRING - (size_t)(at - text), n = 0;
	if (text_of != NULL) {
		n = strnlen(text_of, room);
		memcpy(at, text_of, n);
		at += n;
	}
	gompi_biased_give(&codes_lock);
	if (class == NULL && c == NULL && code != MPI_ERR_LASTCODE)
		return -1;
	if (class != NULL && text_of != NULL) {
		if (room - n < sizeof ")") // which is cut
			at = stpcpy(text + MPI_MAX_ERROR_STRING - sizeof "...", "...");
		else
			at = stpcpy(at, ")");
	}
	*at = 0;
	return (int)(at - text);
}

int gompi_error_class(int errorcode, int *errorclass) {
	struct gompi_verdict v;
	if (errorclass == NULL)
		return gompi_no_place("MPI_Error_class", GOMPI_ON_NONE, 0);
	int class = gompi_error_class_of(errorcode);
	if (class < 0) {
		gompi_error(&v, MPI_ERR_ARG, "%d is no error class or code", errorcode);
		return raise_verdict("MPI_Error_class", &v);
	}
	*errorclass = class;
	return MPI_SUCCESS;
}

int gompi_error_string(int errorcode, char *string, int *resultlen) {
	struct gompi_verdict v;
	if (gompi_error_class_of(errorcode) < 0) {
		gompi_error(&v, MPI_ERR_ARG, "%d is no error class or code", errorcode);
		return raise_verdict("MPI_Error_string", &v);
	}
	if (string == NULL || resultlen == NULL)
		return gompi_no_place("MPI_Error_string", GOMPI_ON_NONE, 0);
	*resultlen = gompi_error_text(errorcode, string);
	return MPI_SUCCESS;
}

static int no_more_codes(const char *call) {
	return gompi_refuse(MPI_ERR_NO_MEM, call, "no memory for another error code", GOMPI_ON_NONE, 0);
}

int gompi_add_error_class(int *errorclass) {
	if (errorclass == NULL)
		return gompi_no_place("MPI_Add_error_class", GOMPI_ON_NONE, 0);
	gompi_biased_take(&codes_lock);
	int n = add_locked(true, 0);
	gompi_biased_give(&codes_lock);
	if (n == 0)
		return no_more_codes("MPI_Add_error_class");
	*errorclass = n;
	return MPI_SUCCESS;
}

int gompi_add_error_code(int errorclass, int *errorcode) {
	static const char call[] = "MPI_Add_error_code";
	struct gompi_verdict v;
	if (errorcode == NULL)
		return gompi_no_place(call, GOMPI_ON_NONE, 0);
	gompi_biased_take(&codes_lock);
	struct added_code *c = added_at(errorclass);
	if (predefined_class(errorclass) == NULL && (c == NULL || c->class != errorclass))
		return code_done(call, gompi_error(&v, MPI_ERR_ARG, "%d is no error class", errorclass), &v);
	int n = add_locked(false, errorclass);
	if (n != 0 && (c = added_at(errorclass)) != NULL)
		c->codes++;
	gompi_biased_give(&codes_lock);
	if (n == 0)
		return no_more_codes(call);
	*errorcode = n;
	return MPI_SUCCESS;
}

int gompi_add_error_string(int errorcode, const char *string) {
	static const char call[] = "MPI_Add_error_string";
	struct gompi_verdict v;
	if (string == NULL)
		return gompi_no_place(call, GOMPI_ON_NONE, 0);
	size_t n = strlen(string);
	char *text;
	int rc = MPI_SUCCESS;
	gompi_biased_take(&codes_lock);
	struct added_code *c = added_at(errorcode);
	if (c == NULL)
		rc = gompi_error(&v, MPI_ERR_ARG, "%d is no error class or code that was added", errorcode);
	else if (n >= MPI_MAX_ERROR_STRING)
		rc = gompi_error(&v, MPI_ERR_ARG, "an error string of %zu bytes: at most %d are possible", n,
				 MPI_MAX_ERROR_STRING - 1);
	else if ((text = realloc(c->text, n + 1)) == NULL)
		rc = gompi_error(&v, MPI_ERR_NO_MEM, "no memory for an error string");
	else
		c->text = memcpy(text, string, n + 1);
	return code_done(call, rc, &v);
}

int gompi_remove_error_class(int errorclass) {
	struct gompi_verdict v;
	int rc = MPI_SUCCESS;
	gompi_biased_take(&codes_lock);
	const struct added_code *c = added_at(errorclass);
	if (c == NULL || c->class != errorclass)
		rc = gompi_error(&v, MPI_ERR_ARG, "%d is no error class that was added", errorclass);
	else if (c->codes > 0)
		rc = gompi_error(&v, MPI_ERR_ARG, "error class %d still has %d error codes", errorclass, c->codes);
	else
		remove_locked(errorclass);
	return code_done("MPI_Remove_error_class", rc, &v);
}

int gompi_remove_error_code(int errorcode) {
	struct gompi_verdict v;
	int rc = MPI_SUCCESS;
	gompi_biased_take(&codes_lock);
	const struct added_code *c = added_at(errorcode);
	if (c == NULL || c->class == errorcode) {
		rc = gompi_error(&v, MPI_ERR_ARG, "%d is no error code that was added", errorcode);
	} else if (c->text != NULL) {
		rc = gompi_error(&v, MPI_ERR_ARG, "error code %d still has its string \"%s\"", errorcode, c->text);
	} else {
		struct added_code *class = added_at(c->class);
		if (class != NULL)
			class->codes--;
		remove_locked(errorcode);
	}
	return code_done("MPI_Remove_error_code", rc, &v);
}

int gompi_remove_error_string(int errorcode) {
	struct gompi_verdict v;
	int rc = MPI_SUCCESS;
	gompi_biased_take(&codes_lock);
	struct added_code *c = added_at(errorcode);
	if (c == NULL) {
		rc = gompi_error(&v, MPI_ERR_ARG, "%d is no error class or code that was added", errorcode);
	} else if (c->text == NULL) {
		rc = gompi_error(&v, MPI_ERR_ARG, "error code %d has no string", errorcode);
	} else {
		free(c->text);
		c->text = NULL;
	}
	return code_done("MPI_Remove_error_string", rc, &v);
}
