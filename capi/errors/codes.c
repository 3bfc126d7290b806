#include "errors/codes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/biased.h"
#include "base/up.h"
#include "base/verdict.h"
#include "errors/z_calls.h"
#include "errors/z_classes.h"

enum { FIRST_CODE = MPI_ERR_LASTCODE + 1, SMALL_CLASSES = 64, TOOL_CLASSES = 1000, CLASSES = 128 };

// The index of a predefined class in the table: small numbers first, then the MPI_T_ classes, which begin at 1,000.
#define CLASS_AT(class) ((class) < SMALL_CLASSES ? (class) : (class) - TOOL_CLASSES + SMALL_CLASSES)
#define CLASS(class, text) [CLASS_AT(class)] = {#class, #class ": " text, sizeof(#class ": " text) - 1},
static const struct class {
	const char *name, *text;
	size_t length; // length of the text
} classes[CLASSES] = {GOMPI_ERROR_CLASSES(CLASS)};

// An error class or code that the application has added.
struct added_code {
	gompi_a32 live; // 0 if removed; else class + 1, for a class its own number + 1. Read without the lock
	int codes;      // for a class: number of its codes
	char *text;     // NULL if it has no string
	size_t room;    // size of the memory at text, in bytes
	int before;     // next in the list of removed numbers; 0 at its end
};

// Guards all changes. Held for a few instructions and for copies of texts.
static struct gompi_biased codes_lock;
// Entry i is number FIRST_CODE + i. The list is not freed when it grows, because a reader may still access it.
static struct added_list {
	int room;
	struct added_code code[];
} * _Atomic added;
static int added_codes, last_removed;
// The latest error of each class.
static struct recent {
	char *_Atomic text; // contents guarded by the lock; the null check reads the pointer without it
	gompi_a64 called;   // nonzero if the application raised the error: handle of the object, and its kind in the
			    // upper half
} recent[CLASSES];

int gompi_last_used_code = MPI_ERR_LASTCODE;

// Returns the index of a predefined class in the tables, or -1 if it is not predefined.
static int class_at(int n) {
	bool small = (uint32_t)n < SMALL_CLASSES;
	uint32_t at = small ? (uint32_t)n : (uint32_t)n - TOOL_CLASSES + SMALL_CLASSES;
	return (small || (at >= SMALL_CLASSES && at < CLASSES)) && classes[at].name != NULL ? (int)at : -1;
}

const char *gompi_error_class_name(int class) {
	int at = class_at(class);
	return at >= 0 ? classes[at].name : NULL;
}

int gompi_error_class_of_peer(uint64_t class) {
	const bool known = class > MPI_SUCCESS && class <= INT32_MAX && class_at((int)class) >= 0;
	return known ? (int)class : MPI_ERR_INTERN;
}

// Returns an added class or code, or NULL. The caller holds the lock, except gompi_error_class_of, which only reads the
// class.
static inline struct added_code *added_at(int n) {
	struct added_list *list = gompi_load_acquire(&added); // pairs with the release in add_locked
	if (n < FIRST_CODE || list == NULL || n - FIRST_CODE >= list->room)
		return NULL;
	struct added_code *c = &list->code[n - FIRST_CODE];
	return gompi_load(&c->live) != 0 ? c : NULL;
}

static int class_of(const struct added_code *c) { return (int)gompi_load(&c->live) - 1; }

// Adds a code of a class, or a class. Returns its number, or 0 if out of memory. The caller holds the lock.
static int add_locked(bool is_class, int class) {
	struct added_list *list = gompi_load(&added);
	int n = last_removed;
	if (n != 0) {
		last_removed = list->code[n - FIRST_CODE].before;
	} else {
		int room = list != NULL ? list->room : 0;
		if (added_codes == room) {
			int twice = room == 0 ? 16 : 2 * room;
			struct added_list *more = calloc(1, sizeof *more + (size_t)twice * sizeof *more->code);
			if (more == NULL)
				return 0;
			more->room = twice;
			for (int i = 0; i < room; i++)
				more->code[i] = list->code[i];
			gompi_store_release(&added, more);
			list = more;
		}
		n = FIRST_CODE + added_codes++;
		gompi_last_used_code = n;
	}
	struct added_code *c = &list->code[n - FIRST_CODE];
	c->codes = 0;
	gompi_store(&c->live, (uint32_t)(is_class ? n : class) + 1);
	return n;
}

static void remove_locked(int n) {
	struct added_code *c = added_at(n);
	free(c->text);
	c->text = NULL;
	gompi_store(&c->live, 0);
	c->before = last_removed;
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
	if (code < FIRST_CODE)
		return class_at(code) >= 0 || code == MPI_ERR_LASTCODE ? code : -1;
	const struct added_code *c = added_at(code);
	return c != NULL ? class_of(c) : -1;
}

void gompi_error_remember(int class, const char *text) {
	int at = class_at(class);
	if (at < 0)
		return;
	struct recent *r = &recent[at];
	size_t n = strnlen(text, MPI_MAX_ERROR_STRING - 1);
	gompi_biased_take(&codes_lock);
	char *to = gompi_load(&r->text);
	if (to == NULL)
		to = malloc(MPI_MAX_ERROR_STRING);
	if (to != NULL) {
		memcpy(to, text, n);
		to[n] = 0;
		gompi_store(&r->text, to);
	}
	gompi_store(&r->called, 0);
	gompi_biased_give(&codes_lock);
}

void gompi_error_called(int class, int kind, uintptr_t object) {
	int at = class_at(class);
	if (at >= 0)
		gompi_store(&recent[at].called, (uint64_t)kind << 32 | (uint32_t)object);
}

// Implements gompi_error_text for a predefined class.
static int class_text(int class, char *text) {
	const struct class *c = &classes[class_at(class)];
	struct recent *r = &recent[class_at(class)];
	uint64_t called = gompi_load(&r->called);
	memcpy(text, c->text, c->length + 1);
	if (called == 0 && gompi_load(&r->text) == NULL)
		return (int)c->length;
	char about[MPI_MAX_ERROR_STRING];
	int n;
	if (called != 0) {
		n = gompi_up.called_text(class, (int)(called >> 32), (uint32_t)called, about);
	} else {
		gompi_biased_take(&codes_lock);
		n = (int)(stpcpy(about, gompi_load(&r->text)) - about);
		gompi_biased_give(&codes_lock);
	}
	char *at = stpcpy(text + c->length, " (");
	int room = MPI_MAX_ERROR_STRING - (int)(at - text) - (int)sizeof ")";
	memcpy(at, about, (size_t)(n < room ? n : room));
	return (int)((n <= room ? stpcpy(at + n, ")") : stpcpy(at + room - 2, "...")) - text);
}

int gompi_error_text(int code, char *text) {
	if (class_at(code) >= 0)
		return class_text(code, text);
	if (code == MPI_ERR_LASTCODE) // no error has this class, but it ends MPI's table of classes
		return (int)(stpcpy(text, "MPI_ERR_LASTCODE: last error code") - text);
	gompi_biased_take(&codes_lock);
	const struct added_code *c = added_at(code);
	int n = c == NULL ? -1 : (int)(stpcpy(text, c->text != NULL ? c->text : "") - text);
	gompi_biased_give(&codes_lock);
	return n;
}

// Executes MPI_Error_class for a code that is not a small predefined class, and raises its errors.
static __attribute__((noinline)) int other_error_class(int errorcode, int *errorclass) {
	struct gompi_verdict v;
	if (errorclass == NULL)
		return gompi_no_place("MPI_Error_class", GOMPI_ON_NONE, 0);
	int class = gompi_error_class_of(errorcode);
	if (class < 0) {
		gompi_error(&v, MPI_ERR_ARG, "%d is not an error class or code", errorcode);
		return raise_verdict("MPI_Error_class", &v);
	}
	*errorclass = class;
	return MPI_SUCCESS;
}

int gompi_error_class(int errorcode, int *errorclass) {
	// Each small class is one bit of a mask.
#define SMALL_CLASS(class, text) | ((class) < SMALL_CLASSES ? 1ULL << ((class) % SMALL_CLASSES) : 0)
	const uint64_t small = 0 GOMPI_ERROR_CLASSES(SMALL_CLASS);
	if (__builtin_expect(
		    (uint32_t)errorcode >= SMALL_CLASSES || (small >> errorcode & 1) == 0 || errorclass == NULL, 0))
		return other_error_class(errorcode, errorclass);
	*errorclass = errorcode;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Error_class, gompi_error_class);

int gompi_error_string(int errorcode, char *string, int *resultlen) {
	struct gompi_verdict v;
	bool no_place = string == NULL || resultlen == NULL;
	int n = no_place ? gompi_error_class_of(errorcode) : gompi_error_text(errorcode, string);
	if (n < 0) {
		gompi_error(&v, MPI_ERR_ARG, "%d is not an error class or code", errorcode);
		return raise_verdict("MPI_Error_string", &v);
	}
	if (no_place)
		return gompi_no_place("MPI_Error_string", GOMPI_ON_NONE, 0);
	*resultlen = n;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Error_string, gompi_error_string);

static int no_more_codes(const char *call) {
	return gompi_refuse(MPI_ERR_NO_MEM, call, "out of memory for an error code", GOMPI_ON_NONE, 0);
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
GOMPI_ENTRY(MPI_Add_error_class, gompi_add_error_class);

int gompi_add_error_code(int errorclass, int *errorcode) {
	static const char call[] = "MPI_Add_error_code";
	struct gompi_verdict v;
	if (errorcode == NULL)
		return gompi_no_place(call, GOMPI_ON_NONE, 0);
	gompi_biased_take(&codes_lock);
	struct added_code *c = added_at(errorclass);
	if (class_at(errorclass) < 0 && (c == NULL || class_of(c) != errorclass))
		return code_done(call, gompi_error(&v, MPI_ERR_ARG, "%d is not an error class", errorclass), &v);
	int n = add_locked(false, errorclass);
	if (n != 0 && (c = added_at(errorclass)) != NULL)
		c->codes++;
	gompi_biased_give(&codes_lock);
	if (n == 0)
		return no_more_codes(call);
	*errorcode = n;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Add_error_code, gompi_add_error_code);

// Makes space for a string of `bytes` bytes. Returns false if out of memory.
static bool make_text_room(struct added_code *c, size_t bytes) {
	if (c->text != NULL && bytes <= c->room)
		return true;
	char *text = realloc(c->text, bytes);
	if (text == NULL)
		return false;
	c->text = text;
	c->room = bytes;
	return true;
}

int gompi_add_error_string(int errorcode, const char *string) {
	static const char call[] = "MPI_Add_error_string";
	struct gompi_verdict v;
	if (string == NULL)
		return gompi_no_place(call, GOMPI_ON_NONE, 0);
	size_t n = strlen(string);
	int rc = MPI_SUCCESS;
	gompi_biased_take(&codes_lock);
	struct added_code *c = added_at(errorcode);
	if (c == NULL)
		rc = gompi_error(&v, MPI_ERR_ARG, "%d is not an error class or code that was added", errorcode);
	else if (n >= MPI_MAX_ERROR_STRING)
		rc = gompi_error(&v, MPI_ERR_ARG, "the error string has %zu bytes; the maximum is %d", n,
				 MPI_MAX_ERROR_STRING - 1);
	else if (!make_text_room(c, n + 1))
		rc = gompi_error(&v, MPI_ERR_NO_MEM, "out of memory for an error string");
	else
		memcpy(c->text, string, n + 1);
	return code_done(call, rc, &v);
}
GOMPI_ENTRY(MPI_Add_error_string, gompi_add_error_string);

int gompi_remove_error_class(int errorclass) {
	struct gompi_verdict v;
	int rc = MPI_SUCCESS;
	gompi_biased_take(&codes_lock);
	const struct added_code *c = added_at(errorclass);
	if (c == NULL || class_of(c) != errorclass)
		rc = gompi_error(&v, MPI_ERR_ARG, "%d is not an error class that was added", errorclass);
	else if (c->codes > 0)
		rc = gompi_error(&v, MPI_ERR_ARG, "error class %d still has %d error codes: remove these first",
				 errorclass, c->codes);
	else
		remove_locked(errorclass);
	return code_done("MPI_Remove_error_class", rc, &v);
}
GOMPI_ENTRY(MPI_Remove_error_class, gompi_remove_error_class);

int gompi_remove_error_code(int errorcode) {
	struct gompi_verdict v;
	int rc = MPI_SUCCESS;
	gompi_biased_take(&codes_lock);
	const struct added_code *c = added_at(errorcode);
	if (c == NULL || class_of(c) == errorcode) {
		rc = gompi_error(&v, MPI_ERR_ARG, "%d is not an error code that was added", errorcode);
	} else if (c->text != NULL) {
		rc = gompi_error(&v, MPI_ERR_ARG, "error code %d still has the string \"%s\": remove it first",
				 errorcode, c->text);
	} else {
		struct added_code *class = added_at(class_of(c));
		if (class != NULL)
			class->codes--;
		remove_locked(errorcode);
	}
	return code_done("MPI_Remove_error_code", rc, &v);
}
GOMPI_ENTRY(MPI_Remove_error_code, gompi_remove_error_code);

int gompi_remove_error_string(int errorcode) {
	struct gompi_verdict v;
	int rc = MPI_SUCCESS;
	gompi_biased_take(&codes_lock);
	struct added_code *c = added_at(errorcode);
	if (c == NULL) {
		rc = gompi_error(&v, MPI_ERR_ARG, "%d is not an error class or code that was added", errorcode);
	} else if (c->text == NULL) {
		rc = gompi_error(&v, MPI_ERR_ARG, "error code %d has no string", errorcode);
	} else {
		free(c->text);
		c->text = NULL;
	}
	return code_done("MPI_Remove_error_string", rc, &v);
}
GOMPI_ENTRY(MPI_Remove_error_string, gompi_remove_error_string);
