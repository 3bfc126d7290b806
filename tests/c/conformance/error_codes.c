/* Proves: a program can add error classes and codes. MPI_Error_class of an added code returns the class that the
 *   program added it to, which may be predefined. The text of a code is empty until the program sets a text.
 *   MPI_Comm_dup returns the code of a failing copy function unchanged, and sets the handle to MPI_COMM_NULL. The text
 *   of a predefined class describes the latest error of the class. If the program raised that error with a
 *   call_errhandler call, the text has the object's name. With MPI 4.1 and later, codes can be removed. A class cannot
 *   be removed while it has codes. Ten thousand rounds of adding and removing do not change other codes. MPI-5.0 9.4,
 *   9.5
 * np: 1 2
 * ref: none (MPICH 4.0 gives predefined classes another text, and its MPI_LASTUSEDCODE does not count codes)
 * timeout: 60
 */
#include "../check.h"

static int refusal;

static int refuse(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag) {
	(void)comm, (void)keyval, (void)extra, (void)in, (void)out;
	*flag = 1;
	return refusal;
}

static void check_text(int code, const char *want) {
	char text[MPI_MAX_ERROR_STRING] = "not touched";
	int len = -1;
	CHECK_OK(MPI_Error_string(code, text, &len));
	CHECK(strcmp(text, want) == 0 && len == (int)strlen(want), "the text of %d is '%s' of length %d, not '%s'",
	      code, text, len, want);
}

static void check_class_of(int code, int want) {
	int class = -1;
	CHECK_OK(MPI_Error_class(code, &class));
	CHECK(class == want, "the class of %d is %d, not %d", code, class, want);
}

static void attributes(int class, int code) {
	int keyval, value = 5;
	MPI_Comm parent, copy;
	MPI_Comm_dup(MPI_COMM_WORLD, &parent);
	MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
	MPI_Comm_create_keyval(refuse, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
	MPI_Comm_set_attr(parent, keyval, &value);
	for (int i = 0; i < 2; i++) {
		refusal = i == 0 ? class : code;
		copy = MPI_COMM_SELF;
		int rc = MPI_Comm_dup(parent, &copy);
		CHECK(rc != MPI_SUCCESS, "the copy was made");
		CHECK(copy == MPI_COMM_NULL, "the handle is not MPI_COMM_NULL");
		check_class_of(rc, class);
		check_text(rc, i == 0 ? "a class of ours" : "a code of ours");
	}
	MPI_Comm_free_keyval(&keyval);
	MPI_Comm_free(&parent);
}

/* Checks that the text of a class describes the latest error of the class. */
static void latest(void) {
	char text[MPI_MAX_ERROR_STRING];
	int len, own;
	MPI_Comm comm;
	MPI_Win win;
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
	MPI_Comm_set_name(comm, "halo");
	MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win);
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	MPI_Win_set_name(win, "wall");
	check_text(MPI_ERR_SPAWN, "MPI_ERR_SPAWN: processes cannot be started");
	CHECK_OK(MPI_Comm_call_errhandler(comm, MPI_ERR_SPAWN));
	snprintf(text, sizeof text,
		 "MPI_ERR_SPAWN: processes cannot be started (MPI_Comm_call_errhandler on "
		 "communicator halo: error code %d)",
		 MPI_ERR_SPAWN);
	check_text(MPI_ERR_SPAWN, text);
	CHECK_OK(MPI_Win_call_errhandler(win, MPI_ERR_SPAWN));
	snprintf(text, sizeof text,
		 "MPI_ERR_SPAWN: processes cannot be started (MPI_Win_call_errhandler on "
		 "window wall: error code %d)",
		 MPI_ERR_SPAWN);
	check_text(MPI_ERR_SPAWN, text);
	CHECK_CLASS(MPI_Send(&len, 1, MPI_INT, -9, 0, comm), MPI_ERR_RANK);
	CHECK_OK(MPI_Comm_call_errhandler(comm, MPI_ERR_RANK));
	CHECK_CLASS(MPI_Send(&len, 1, MPI_INT, 1000000, 0, comm), MPI_ERR_RANK);
	MPI_Error_string(MPI_ERR_RANK, text, &len);
	CHECK(strstr(text, "MPI_Send on communicator halo") != NULL && strstr(text, "1000000") != NULL &&
		      (int)strlen(text) == len && text[len - 1] == ')',
	      "after a send to rank 1000000: '%s'", text);
	CHECK_OK(MPI_Add_error_code(MPI_SUCCESS, &own)); /* a code of class MPI_SUCCESS is allowed */
	check_class_of(own, MPI_SUCCESS);
	CHECK_OK(MPI_Comm_call_errhandler(comm, own));
	check_text(own, "");
	for (int i = 0; i < 100; i++) { /* the list of codes grows */
		CHECK_OK(MPI_Add_error_code(MPI_ERR_ARG, &own));
		check_class_of(own, MPI_ERR_ARG);
	}
	MPI_Win_free(&win);
	MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
	int class, code, other, plain, *last, flag;
	check_begin_return_errors(&argc, &argv);
	CHECK_OK(MPI_Add_error_class(&class));
	CHECK_OK(MPI_Add_error_code(class, &code));
	CHECK_OK(MPI_Add_error_code(class, &other));
	CHECK_OK(MPI_Add_error_code(MPI_ERR_ARG, &plain));
	CHECK(class > MPI_ERR_LASTCODE && code > MPI_ERR_LASTCODE && code != class && other != code,
	      "class %d, codes %d and %d", class, code, other);
	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag);
	CHECK(flag && *last >= class && *last >= code && *last >= other && *last >= plain, "MPI_LASTUSEDCODE is %d",
	      flag ? *last : -1);
	check_class_of(class, class);
	check_class_of(code, class);
	check_class_of(plain, MPI_ERR_ARG);
	check_text(class, "");
	CHECK_OK(MPI_Add_error_string(class, "a class of ours"));
	CHECK_OK(MPI_Add_error_string(code, "a code of ours"));
	check_text(class, "a class of ours");
	check_text(code, "a code of ours");
	CHECK_CLASS(MPI_Add_error_string(MPI_ERR_RANK, "no"), MPI_ERR_ARG);
	attributes(class, code);
	latest();
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
	CHECK_CLASS(MPI_Remove_error_class(class), MPI_ERR_ARG); /* refused: the class has codes */
	CHECK_CLASS(MPI_Remove_error_code(MPI_ERR_RANK), MPI_ERR_ARG);
	for (int i = 0; i < 10000; i++) {
		int c, k[3];
		MPI_Add_error_class(&c);
		for (int j = 0; j < 3; j++) {
			MPI_Add_error_code(c, &k[j]);
			MPI_Add_error_string(k[j], "for a moment");
		}
		if (i % 1000 == 0) {
			check_class_of(k[2], c);
			CHECK_CLASS(MPI_Remove_error_class(c), MPI_ERR_ARG);
		}
		for (int j = 0; j < 3; j++) {
			if (i % 1000 == 0)
				CHECK_CLASS(MPI_Remove_error_code(k[j]), MPI_ERR_ARG); /* the code still has a string */
			CHECK_OK(MPI_Remove_error_string(k[j]));
			CHECK_OK(MPI_Remove_error_code(k[j]));
		}
		CHECK_OK(MPI_Remove_error_class(c));
	}
	int fresh;
	CHECK_OK(MPI_Add_error_class(&fresh));
	check_text(fresh, ""); /* a new class has no text, even if it reuses a removed number */
	CHECK(fresh != class && fresh != code && fresh != other && fresh != plain, "the number %d is in use", fresh);
	CHECK_OK(MPI_Remove_error_string(code));
	check_text(code, "");
	CHECK_CLASS(MPI_Remove_error_string(code), MPI_ERR_ARG); /* refused: the string is removed already */
	CHECK_CLASS(MPI_Remove_error_string(MPI_ERR_RANK), MPI_ERR_ARG);
	CHECK_OK(MPI_Remove_error_code(code));
	CHECK_OK(MPI_Remove_error_code(other));
	CHECK_OK(MPI_Remove_error_class(class));
	CHECK_CLASS(MPI_Remove_error_class(class), MPI_ERR_ARG);
	CHECK_OK(MPI_Remove_error_class(fresh));
#endif
	check_class_of(plain, MPI_ERR_ARG);
	return check_end();
}
