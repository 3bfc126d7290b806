/* Proves: each control variable has a unique name, by which MPI_T_cvar_get_index finds it, and a value that can be read
 *   before MPI_Init, while MPI runs and after MPI_Finalize. Variables that cannot be changed report that; a changed one
 *   has the new value and takes effect. Texts are truncated to the length that the caller gives. Enumerations name the
 *   values. Categories list each variable once. Invalid handles, indices, names and values are refused. MPI-5.0 15.3.6
 * np: 1 2
 * ref: none (the variables are gompirma's)
 * env: GOMPIRMA_NO_CMA=1 GOMPIRMA_PORTS=40000-49000 GOMPIRMA_SHARE_IN_PLACE=0
 * timeout: 30
 */
#include "../check.h"

static int index_of(const char *name) {
	int i = -1;
	CHECK(MPI_T_cvar_get_index(name, &i) == MPI_SUCCESS, "no variable %s", name);
	return i;
}

static void read_text(const char *name, const char *expected) {
	MPI_T_cvar_handle h;
	char value[400] = "";
	int count = 0;
	CHECK(MPI_T_cvar_handle_alloc(index_of(name), NULL, &h, &count) == MPI_SUCCESS, "a handle for %s", name);
	CHECK(count == (int)strlen(expected) + 1, "%s has %d characters", name, count);
	CHECK(MPI_T_cvar_read(h, value) == MPI_SUCCESS && strcmp(value, expected) == 0, "%s is '%s'", name, value);
	CHECK(MPI_T_cvar_write(h, "x") == MPI_T_ERR_CVAR_SET_NEVER, "writing %s", name);
	CHECK(MPI_T_cvar_read(h, NULL) == MPI_T_ERR_INVALID, "reading %s to NULL", name);
	CHECK(MPI_T_cvar_handle_free(&h) == MPI_SUCCESS && h == MPI_T_CVAR_HANDLE_NULL, "freeing %s", name);
}

static int read_int(const char *name) {
	MPI_T_cvar_handle h;
	int count = 0, value = -7;
	CHECK(MPI_T_cvar_handle_alloc(index_of(name), NULL, &h, &count) == MPI_SUCCESS && count == 1, "%s", name);
	CHECK(MPI_T_cvar_read(h, &value) == MPI_SUCCESS, "reading %s", name);
	CHECK(MPI_T_cvar_handle_free(&h) == MPI_SUCCESS, "freeing %s", name);
	return value;
}

static void write_int(const char *name, int value, int expected) {
	MPI_T_cvar_handle h;
	int count;
	CHECK(MPI_T_cvar_handle_alloc(index_of(name), NULL, &h, &count) == MPI_SUCCESS, "%s", name);
	int class = MPI_T_cvar_write(h, &value);
	CHECK(class == expected, "writing %d to %s gave %d", value, name, class);
	CHECK(MPI_T_cvar_handle_free(&h) == MPI_SUCCESS, "freeing %s", name);
}

static void check_enum(MPI_T_enum e) {
	char name[64], item[64];
	int n = 0, value = -1, length = sizeof name;
	CHECK(MPI_T_enum_get_info(e, &n, name, &length) == MPI_SUCCESS && n >= 2, "an enumeration of %d", n);
	CHECK(length == (int)strlen(name) + 1, "length %d of %s", length, name);
	for (int i = 0; i < n; i++) {
		length = sizeof item;
		CHECK(MPI_T_enum_get_item(e, i, &value, item, &length) == MPI_SUCCESS, "item %d of %s", i, name);
		CHECK(length > 1 && value == i, "item %d of %s is %d", i, name, value);
	}
	CHECK(MPI_T_enum_get_item(e, n, &value, item, &length) == MPI_T_ERR_INVALID_INDEX, "item %d of %s", n, name);
	CHECK(MPI_T_enum_get_item(e, -1, &value, item, &length) == MPI_T_ERR_INVALID_INDEX, "item -1 of %s", name);
}

static void check_lengths(int i, const char *name) {
	char text[8] = "-------";
	int full = (int)strlen(name) + 1, length = 5;
	CHECK(MPI_T_cvar_get_info(i, text, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL) == MPI_SUCCESS, "info");
	CHECK(strncmp(text, name, 4) == 0 && text[4] == 0 && text[5] == '-', "'%s' of %s", text, name);
	CHECK(length == full, "length %d of %s", length, name);
	length = 0;
	CHECK(MPI_T_cvar_get_info(i, text, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL) == MPI_SUCCESS, "info");
	CHECK(length == full && text[0] == name[0], "length %d of %s", length, name);
	length = 100;
	CHECK(MPI_T_cvar_get_info(i, NULL, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL) == MPI_SUCCESS, "info");
	CHECK(length == full, "length %d of %s", length, name);
	CHECK(MPI_T_cvar_get_info(i, text, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL) == MPI_SUCCESS, "info");
}

/* Checks what can be known of each variable. Adds the categories' lists to listed[]. */
static void check_all(void) {
	int n = 0, categories = 0, listed[100] = {0};
	CHECK(MPI_T_cvar_get_num(&n) == MPI_SUCCESS && n > 10 && n < 100, "%d variables", n);
	for (int i = 0; i < n; i++) {
		char name[64], desc[300];
		int name_length = sizeof name, desc_length = sizeof desc, verbosity = 0, bind = 0, scope = 0;
		MPI_Datatype type = MPI_DATATYPE_NULL;
		MPI_T_enum e = MPI_T_ENUM_NULL;
		CHECK(MPI_T_cvar_get_info(i, name, &name_length, &verbosity, &type, &e, desc, &desc_length, &bind,
					  &scope) == MPI_SUCCESS,
		      "variable %d", i);
		CHECK(index_of(name) == i, "the name %s is not unique", name);
		CHECK(desc_length > 10 && desc_length <= (int)sizeof desc, "%s: description of %d", name, desc_length);
		const int is_time = strcmp(name, "GOMPIRMA_LOCK_EVENT_US") == 0;
		CHECK(type == (e == MPI_T_ENUM_NULL && !is_time ? MPI_CHAR : MPI_INT), "type of %s", name);
		CHECK(bind == MPI_T_BIND_NO_OBJECT, "%s is bound", name);
		CHECK(scope == MPI_T_SCOPE_READONLY || scope == MPI_T_SCOPE_LOCAL, "scope of %s", name);
		CHECK(verbosity >= MPI_T_VERBOSITY_USER_BASIC && verbosity <= MPI_T_VERBOSITY_MPIDEV_ALL, "%s", name);
		if (e != MPI_T_ENUM_NULL)
			check_enum(e);
		check_lengths(i, name);
	}
	CHECK(MPI_T_category_get_num(&categories) == MPI_SUCCESS && categories >= 5, "%d categories", categories);
	for (int c = 0; c < categories; c++) {
		int count = -1, found = -1, length = 40, members[101], sub = -1, events = -1;
		char name[40];
		for (int i = 0; i < 101; i++)
			members[i] = -7;
		CHECK(MPI_T_category_get_info(c, name, &length, NULL, NULL, &count, NULL, &sub) == MPI_SUCCESS, "%d",
		      c);
		CHECK(MPI_T_category_get_index(name, &found) == MPI_SUCCESS && found == c, "category %s", name);
		CHECK(MPI_T_category_get_cvars(c, 100, members) == MPI_SUCCESS, "variables of %s", name);
		CHECK(sub == 0 && MPI_T_category_get_categories(c, 0, NULL) == MPI_SUCCESS, "%d below %s", sub, name);
		CHECK(MPI_T_category_get_num_events(c, &events) == MPI_SUCCESS && events >= 0, "events of %s", name);
		CHECK(MPI_T_category_get_events(c, 0, NULL) == MPI_SUCCESS, "events of %s", name);
		for (int i = 0; i < count; i++)
			listed[members[i]]++;
		CHECK(members[count] == -7, "%s lists more than %d variables", name, count);
		if (count > 1) {
			members[1] = -7;
			CHECK(MPI_T_category_get_cvars(c, 1, members) == MPI_SUCCESS && members[1] == -7, "%s", name);
		}
	}
	for (int i = 0; i < n; i++)
		CHECK(listed[i] == 1, "variable %d is in %d categories", i, listed[i]);
}

static void check_refused(void) {
	MPI_T_cvar_handle h = MPI_T_CVAR_HANDLE_NULL, stale;
	int n = 0, count = -7, value = 0;
	MPI_T_cvar_get_num(&n);
	CHECK(MPI_T_cvar_handle_alloc(n, NULL, &h, &count) == MPI_T_ERR_INVALID_INDEX, "an index after the last");
	CHECK(MPI_T_cvar_handle_alloc(-1, NULL, &h, &count) == MPI_T_ERR_INVALID_INDEX, "index -1");
	CHECK(MPI_T_cvar_handle_alloc(0, NULL, NULL, &count) == MPI_T_ERR_INVALID, "no place for the handle");
	CHECK(MPI_T_cvar_read(h, &value) == MPI_T_ERR_INVALID_HANDLE, "reading a null handle");
	CHECK(MPI_T_cvar_handle_free(&h) == MPI_T_ERR_INVALID_HANDLE, "freeing a null handle");
	CHECK(MPI_T_cvar_handle_free(NULL) == MPI_T_ERR_INVALID_HANDLE, "freeing NULL");
	CHECK(MPI_T_cvar_handle_alloc(0, NULL, &h, &count) == MPI_SUCCESS, "a handle");
	stale = h;
	CHECK(MPI_T_cvar_handle_free(&h) == MPI_SUCCESS, "freeing a handle");
	CHECK(MPI_T_cvar_handle_alloc(0, NULL, &h, &count) == MPI_SUCCESS && h != stale, "a handle is reused at once");
	CHECK(MPI_T_cvar_read(stale, &value) == MPI_T_ERR_INVALID_HANDLE, "reading a freed handle");
	CHECK(MPI_T_cvar_write((MPI_T_cvar_handle)&value, &value) == MPI_T_ERR_INVALID_HANDLE, "an address as handle");
	CHECK(MPI_T_cvar_handle_free(&h) == MPI_SUCCESS, "freeing a handle");
	CHECK(MPI_T_enum_get_info((MPI_T_enum)&value, &n, NULL, NULL) == MPI_T_ERR_INVALID_HANDLE, "an enumeration");
	CHECK(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &n, NULL, NULL) == MPI_T_ERR_INVALID_HANDLE, "no enumeration");
	CHECK(MPI_T_cvar_get_index(NULL, &n) == MPI_T_ERR_INVALID, "the name NULL");
	CHECK(MPI_T_category_get_info(1000, NULL, NULL, NULL, NULL, NULL, NULL, NULL) == MPI_T_ERR_INVALID_INDEX,
	      "1000");
	CHECK(MPI_T_category_get_cvars(0, 1, NULL) == MPI_T_ERR_INVALID, "no place for indices");
	CHECK(MPI_T_category_get_cvars(0, -1, &n) == MPI_T_ERR_INVALID, "length -1");
	write_int("GOMPIRMA_SHARE_IN_PLACE", 3, MPI_T_ERR_INVALID);
	write_int("GOMPIRMA_HUGE_PAGES", -1, MPI_T_ERR_INVALID);
	write_int("GOMPIRMA_NO_CMA", 0, MPI_T_ERR_CVAR_SET_NEVER);
	write_int("GOMPIRMA_LOCK_EVENT_US", -1, MPI_T_ERR_INVALID);
	CHECK(read_int("GOMPIRMA_LOCK_EVENT_US") == 1000, "%d us", read_int("GOMPIRMA_LOCK_EVENT_US"));
	write_int("GOMPIRMA_LOCK_EVENT_US", 2147483647, MPI_SUCCESS);
	CHECK(read_int("GOMPIRMA_LOCK_EVENT_US") == 2147483647, "%d us", read_int("GOMPIRMA_LOCK_EVENT_US"));
	write_int("GOMPIRMA_LOCK_EVENT_US", 1000, MPI_SUCCESS);
}

static void check_values(void) {
	read_text("GOMPIRMA_PORTS", "40000-49000");
	read_text("GOMPIRMA_PEER_TIMEOUT", "30s");
	CHECK(read_int("GOMPIRMA_NO_CMA") == 1, "GOMPIRMA_NO_CMA is not true");
	CHECK(read_int("GOMPIRMA_SHOW_GO") == 0, "GOMPIRMA_SHOW_GO is not false");
	check_all();
	check_refused();
}

/* Returns true if a window has the info key gompirma_huge_pages, which MPI_Win_get_info reports. */
static int has_key(const char *key, const char *expected) {
	static int memory;
	MPI_Win win;
	MPI_Info info;
	char value[MPI_MAX_INFO_VAL] = "";
	int flag = 0, length = sizeof value;
	MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_SELF, &win);
	MPI_Win_get_info(win, &info);
	MPI_Info_get_string(info, key, &length, value, &flag);
	MPI_Info_free(&info);
	MPI_Win_free(&win);
	return flag && strcmp(value, expected) == 0;
}

int main(int argc, char **argv) {
	int provided;
	CHECK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided) == MPI_SUCCESS, "initialization");
	CHECK(read_int("GOMPIRMA_SHARE_IN_PLACE") == 0, "the default");
	check_values();
	check_begin(&argc, &argv);
	check_values();
	CHECK(has_key("gompirma_share_in_place", "false"), "the default of the info key");
	write_int("GOMPIRMA_SHARE_IN_PLACE", 1, MPI_SUCCESS);
	CHECK(read_int("GOMPIRMA_SHARE_IN_PLACE") == 1, "the value that was written");
	CHECK(has_key("gompirma_share_in_place", "true"), "the value has no effect");
	write_int("GOMPIRMA_SHARE_IN_PLACE", 0, MPI_SUCCESS);
	CHECK(has_key("gompirma_share_in_place", "false"), "the value cannot be changed again");
	int status = check_end();
	check_values();
	MPI_T_cvar_handle h;
	int count, value;
	CHECK(MPI_T_cvar_handle_alloc(0, NULL, &h, &count) == MPI_SUCCESS, "a handle");
	CHECK(MPI_T_finalize() == MPI_SUCCESS, "MPI_T_finalize");
	CHECK(MPI_T_cvar_read(h, &value) == MPI_T_ERR_NOT_INITIALIZED, "reading after MPI_T_finalize");
	CHECK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided) == MPI_SUCCESS, "initialization");
	CHECK(MPI_T_cvar_read(h, &value) == MPI_T_ERR_INVALID_HANDLE, "MPI_T_finalize has not freed a handle");
	CHECK(MPI_T_finalize() == MPI_SUCCESS, "MPI_T_finalize");
	return status != 0 || check_errors != 0;
}
