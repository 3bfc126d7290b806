#include "errors/codes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/biased_mutex.h"
#include "base/go_callbacks.h"
#include "base/error_status.h"
#include "errors/z_calls.h"
#include "errors/z_classes.h"

enum {
	FIRST_ADDED_CODE = MPI_ERR_LASTCODE + 1,
	SMALL_CLASSES = 64,
	TOOL_CLASSES = 1000,
	FAULT_CLASSES = 16000,
	TOOL_INDEX = SMALL_CLASSES,
	FAULT_INDEX = 120,
	CLASSES = 128
};

// The index of a predefined class in the table: small numbers first, then the MPI_T_ classes, which begin at 1,000,
// then the classes for fault tolerance (mpix_gompirma.h).
#define CLASS_INDEX(class)                                               \
	((class) < SMALL_CLASSES   ? (class)                             \
	 : (class) < FAULT_CLASSES ? (class) - TOOL_CLASSES + TOOL_INDEX \
				   : (class) - FAULT_CLASSES + FAULT_INDEX)
#define CLASS(class, text) [CLASS_INDEX(class)] = {#class, #class ": " text, sizeof(#class ": " text) - 1},
static const struct class {
	const char *name, *text;
	size_t length; // length of the text
} classes[CLASSES] = {
	GOMPI_ERROR_CLASSES(CLASS) CLASS(MPIX_ERR_PROC_FAILED, "a process on which the call depends has failed") CLASS(
		MPIX_ERR_PROC_FAILED_PENDING, "a process that may be the sender has failed; the request stays active")
		CLASS(MPIX_ERR_REVOKED, "the communicator has been revoked")};

// An error class or code that the application has added.
struct added_code {
	// for a code: its class + 1; for a class: its own number + 1; 0 if removed. gompi_error_class_of reads it
	// without the lock.
	gompi_a32 class_plus_one;
	int code_count;       // for a class: number of its codes
	char *text;           // NULL if it has no string
	size_t text_capacity; // size of the memory at text, in bytes
	int next_removed;     // if removed: next removed number, which add_locked can reuse; or 0
};

// Guards all changes of this file's data. Threads hold it only for a few instructions or to copy a text.
static struct gompi_biased_mutex codes_lock;
// Entry i is number FIRST_ADDED_CODE + i. The list is not freed when it grows, because a reader may still access it.
static struct added_list {
	int capacity;
	struct added_code code[];
} * _Atomic added;
static int added_codes, last_removed;
// The latest error of each class.
static struct recent {
	char *_Atomic text;  // the lock guards the text; the check for NULL reads the pointer without the lock
	gompi_a64 raised_on; // if the application raised the error: GOMPI_ON_ kind << 32 | object's handle; else 0
} recent[CLASSES];

int gompi_last_used_code = MPI_ERR_LASTCODE;

// Returns the index of a predefined class in the tables, or -1 if it is not predefined.
static int class_index(int n) {
	const int at = CLASS_INDEX(n);
	const int first = n < SMALL_CLASSES ? 0 : n < FAULT_CLASSES ? TOOL_INDEX : FAULT_INDEX;
	return at >= first && at < CLASSES && classes[at].name != NULL ? at : -1;
}

const char *gompi_error_class_name(int class) {
	int at = class_index(class);
	return at >= 0 ? classes[at].name : NULL;
}

int gompi_error_class_of_peer(uint64_t class) {
	const bool known = class > MPI_SUCCESS && class <= INT32_MAX && class_index((int)class) >= 0;
	return known ? (int)class : MPI_ERR_INTERN;
}

// Returns an added class or code, or NULL. The caller must hold the lock, except gompi_error_class_of, which reads only
// the class.
static inline struct added_code *find_added(int n) {
	struct added_list *list = gompi_load_acquire(&added); // pairs with the release in add_locked
	if (n < FIRST_ADDED_CODE || list == NULL || n - FIRST_ADDED_CODE >= list->capacity)
		return NULL;
	struct added_code *c = &list->code[n - FIRST_ADDED_CODE];
	return gompi_load(&c->class_plus_one) != 0 ? c : NULL;
}

static int class_of(const struct added_code *c) { return (int)gompi_load(&c->class_plus_one) - 1; }

// Adds an error code to a class or, if is_class is true, a new error class. Returns the number of the code or class, or
// 0 if out of memory. The caller holds codes_lock.
static int add_locked(bool is_class, int class) {
	struct added_list *list = gompi_load(&added);
	int n = last_removed;
	if (n != 0) {
		last_removed = list->code[n - FIRST_ADDED_CODE].next_removed;
	} else {
		int old_capacity = list != NULL ? list->capacity : 0;
		if (added_codes == old_capacity) {
			int capacity = old_capacity == 0 ? 16 : 2 * old_capacity;
			struct added_list *larger = calloc(1, sizeof *larger + (size_t)capacity * sizeof *larger->code);
			if (larger == NULL)
				return 0;
			larger->capacity = capacity;
			for (int i = 0; i < old_capacity; i++)
				larger->code[i] = list->code[i];
			gompi_store_release(&added, larger);
			list = larger;
		}
		n = FIRST_ADDED_CODE + added_codes++;
		gompi_last_used_code = n;
	}
	struct added_code *c = &list->code[n - FIRST_ADDED_CODE];
	c->code_count = 0;
	gompi_store(&c->class_plus_one, (uint32_t)(is_class ? n : class) + 1);
	return n;
}

static void remove_locked(int n) {
	struct added_code *c = find_added(n);
	free(c->text);
	c->text = NULL;
	gompi_store(&c->class_plus_one, 0);
	c->next_removed = last_removed;
	last_removed = n;
}

static int raise_error_status(const char *call, const struct gompi_error_status *v) {
	return gompi_return_error(v->class, call, v->text, GOMPI_ON_NONE, 0);
}

static int unlock_and_raise(const char *call, int rc, const struct gompi_error_status *v) {
	gompi_biased_unlock(&codes_lock);
	return rc == MPI_SUCCESS ? rc : raise_error_status(call, v);
}

int gompi_error_class_of(int code) {
	if (code < FIRST_ADDED_CODE)
		return class_index(code) >= 0 || code == MPI_ERR_LASTCODE ? code : -1;
	const struct added_code *c = find_added(code);
	return c != NULL ? class_of(c) : -1;
}

void gompi_error_store_text(int class, const char *text) {
	int at = class_index(class);
	if (at < 0)
		return;
	struct recent *r = &recent[at];
	size_t n = strnlen(text, MPI_MAX_ERROR_STRING - 1);
	gompi_biased_lock(&codes_lock);
	char *to = gompi_load(&r->text);
	if (to == NULL)
		to = malloc(MPI_MAX_ERROR_STRING);
	if (to != NULL) {
		memcpy(to, text, n);
		to[n] = 0;
		gompi_store(&r->text, to);
	}
	gompi_store(&r->raised_on, 0);
	gompi_biased_unlock(&codes_lock);
}

void gompi_error_note_called(int class, int kind, uintptr_t object) {
	int at = class_index(class);
	if (at >= 0)
		gompi_store(&recent[at].raised_on, (uint64_t)kind << 32 | (uint32_t)object);
}

// Implements gompi_error_text for a predefined class.
static int class_text(int class, char *text) {
	const struct class *c = &classes[class_index(class)];
	struct recent *r = &recent[class_index(class)];
	uint64_t called = gompi_load(&r->raised_on);
	memcpy(text, c->text, c->length + 1);
	if (called == 0 && gompi_load(&r->text) == NULL)
		return (int)c->length;
	char detail[MPI_MAX_ERROR_STRING];
	int n;
	if (called != 0) {
		n = gompi_go_callbacks.called_error_text(class, (int)(called >> 32), (uint32_t)called, detail);
	} else {
		gompi_biased_lock(&codes_lock);
		n = (int)(stpcpy(detail, gompi_load(&r->text)) - detail);
		gompi_biased_unlock(&codes_lock);
	}
	char *at = stpcpy(text + c->length, " (");
	int space = MPI_MAX_ERROR_STRING - (int)(at - text) - (int)sizeof ")";
	memcpy(at, detail, (size_t)(n < space ? n : space));
	return (int)((n <= space ? stpcpy(at + n, ")") : stpcpy(at + space - 2, "...")) - text);
}

int gompi_error_text(int code, char *text) {
	if (class_index(code) >= 0)
		return class_text(code, text);
	if (code == MPI_ERR_LASTCODE) // not the class of an error, but the upper bound of the predefined classes
		return (int)(stpcpy(text, "MPI_ERR_LASTCODE: largest predefined error code") - text);
	gompi_biased_lock(&codes_lock);
	const struct added_code *c = find_added(code);
	int n = c == NULL ? -1 : (int)(stpcpy(text, c->text != NULL ? c->text : "") - text);
	gompi_biased_unlock(&codes_lock);
	return n;
}

// Implements MPI_Error_class for all codes except predefined classes below SMALL_CLASSES, and raises the errors of the
// call.
static __attribute__((noinline)) int error_class_slow(int errorcode, int *errorclass) {
	struct gompi_error_status v;
	if (errorclass == NULL)
		return gompi_null_argument_error("MPI_Error_class", "errorclass", GOMPI_ON_NONE, 0);
	int class = gompi_error_class_of(errorcode);
	if (class < 0) {
		gompi_set_error(&v, MPI_ERR_ARG, "%d is not an error class or code", errorcode);
		return raise_error_status("MPI_Error_class", &v);
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
		return error_class_slow(errorcode, errorclass);
	*errorclass = errorcode;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Error_class, gompi_error_class);

int gompi_error_string(int errorcode, char *string, int *resultlen) {
	struct gompi_error_status v;
	bool is_null_output = string == NULL || resultlen == NULL;
	int n = is_null_output ? gompi_error_class_of(errorcode) : gompi_error_text(errorcode, string);
	if (n < 0) {
		gompi_set_error(&v, MPI_ERR_ARG, "%d is not an error class or code", errorcode);
		return raise_error_status("MPI_Error_string", &v);
	}
	if (is_null_output)
		return gompi_null_argument_error("MPI_Error_string", "string or resultlen", GOMPI_ON_NONE, 0);
	*resultlen = n;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Error_string, gompi_error_string);

static int no_code_memory_error(const char *call) {
	return gompi_return_error(MPI_ERR_NO_MEM, call, "out of memory for an error code", GOMPI_ON_NONE, 0);
}

int gompi_add_error_class(int *errorclass) {
	if (errorclass == NULL)
		return gompi_null_argument_error("MPI_Add_error_class", "errorclass", GOMPI_ON_NONE, 0);
	gompi_biased_lock(&codes_lock);
	int n = add_locked(true, 0);
	gompi_biased_unlock(&codes_lock);
	if (n == 0)
		return no_code_memory_error("MPI_Add_error_class");
	*errorclass = n;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Add_error_class, gompi_add_error_class);

int gompi_add_error_code(int errorclass, int *errorcode) {
	static const char call[] = "MPI_Add_error_code";
	struct gompi_error_status v;
	if (errorcode == NULL)
		return gompi_null_argument_error(call, "errorcode", GOMPI_ON_NONE, 0);
	gompi_biased_lock(&codes_lock);
	struct added_code *c = find_added(errorclass);
	if (class_index(errorclass) < 0 && (c == NULL || class_of(c) != errorclass))
		return unlock_and_raise(call, gompi_set_error(&v, MPI_ERR_ARG, "%d is not an error class", errorclass),
					&v);
	int n = add_locked(false, errorclass);
	if (n != 0 && (c = find_added(errorclass)) != NULL)
		c->code_count++;
	gompi_biased_unlock(&codes_lock);
	if (n == 0)
		return no_code_memory_error(call);
	*errorcode = n;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Add_error_code, gompi_add_error_code);

// Ensures that c->text has space for this many bytes. Returns false if out of memory.
static bool reserve_text(struct added_code *c, size_t bytes) {
	if (c->text != NULL && bytes <= c->text_capacity)
		return true;
	char *text = realloc(c->text, bytes);
	if (text == NULL)
		return false;
	c->text = text;
	c->text_capacity = bytes;
	return true;
}

int gompi_add_error_string(int errorcode, const char *string) {
	static const char call[] = "MPI_Add_error_string";
	struct gompi_error_status v;
	if (string == NULL)
		return gompi_null_argument_error(call, "string", GOMPI_ON_NONE, 0);
	size_t n = strlen(string);
	int rc = MPI_SUCCESS;
	gompi_biased_lock(&codes_lock);
	struct added_code *c = find_added(errorcode);
	if (c == NULL)
		rc = gompi_set_error(&v, MPI_ERR_ARG, "%d is not an error class or code that the program has added",
				     errorcode);
	else if (n >= MPI_MAX_ERROR_STRING)
		rc = gompi_set_error(&v, MPI_ERR_ARG, "the error string has %zu bytes; the maximum is %d", n,
				     MPI_MAX_ERROR_STRING - 1);
	else if (!reserve_text(c, n + 1))
		rc = gompi_set_error(&v, MPI_ERR_NO_MEM, "out of memory for an error string");
	else
		memcpy(c->text, string, n + 1);
	return unlock_and_raise(call, rc, &v);
}
GOMPI_ENTRY(MPI_Add_error_string, gompi_add_error_string);

int gompi_remove_error_class(int errorclass) {
	struct gompi_error_status v;
	int rc = MPI_SUCCESS;
	gompi_biased_lock(&codes_lock);
	const struct added_code *c = find_added(errorclass);
	if (c == NULL || class_of(c) != errorclass)
		rc = gompi_set_error(&v, MPI_ERR_ARG, "%d is not an error class that the program has added",
				     errorclass);
	else if (c->code_count > 0)
		rc = gompi_set_error(
			&v, MPI_ERR_ARG,
			"error class %d still has error codes (%d): remove the codes first with MPI_Remove_error_code",
			errorclass, c->code_count);
	else
		remove_locked(errorclass);
	return unlock_and_raise("MPI_Remove_error_class", rc, &v);
}
GOMPI_ENTRY(MPI_Remove_error_class, gompi_remove_error_class);

int gompi_remove_error_code(int errorcode) {
	struct gompi_error_status v;
	int rc = MPI_SUCCESS;
	gompi_biased_lock(&codes_lock);
	const struct added_code *c = find_added(errorcode);
	if (c == NULL || class_of(c) == errorcode) {
		rc = gompi_set_error(&v, MPI_ERR_ARG, "%d is not an error code that the program has added", errorcode);
	} else if (c->text != NULL) {
		rc = gompi_set_error(&v, MPI_ERR_ARG,
				     "error code %d still has the string \"%s\": remove the string first with "
				     "MPI_Remove_error_string",
				     errorcode, c->text);
	} else {
		struct added_code *class = find_added(class_of(c));
		if (class != NULL)
			class->code_count--;
		remove_locked(errorcode);
	}
	return unlock_and_raise("MPI_Remove_error_code", rc, &v);
}
GOMPI_ENTRY(MPI_Remove_error_code, gompi_remove_error_code);

int gompi_remove_error_string(int errorcode) {
	struct gompi_error_status v;
	int rc = MPI_SUCCESS;
	gompi_biased_lock(&codes_lock);
	struct added_code *c = find_added(errorcode);
	if (c == NULL) {
		rc = gompi_set_error(&v, MPI_ERR_ARG, "%d is not an error class or code that the program has added",
				     errorcode);
	} else if (c->text == NULL) {
		rc = gompi_set_error(&v, MPI_ERR_ARG, "error code %d has no string", errorcode);
	} else {
		free(c->text);
		c->text = NULL;
	}
	return unlock_and_raise("MPI_Remove_error_string", rc, &v);
}
GOMPI_ENTRY(MPI_Remove_error_string, gompi_remove_error_string);
