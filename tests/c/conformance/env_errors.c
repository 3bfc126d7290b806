/* Proves: MPI_Error_class of every predefined class returns that class. Each class has its own text, which fits into
 *   MPI_MAX_ERROR_STRING. The classes are ordered: MPI_SUCCESS < ... <= MPI_ERR_LASTCODE. MPI-5.0 9.4
 * np: 1
 * ref: mpich
 * timeout: 30
 */
#include "../check.h"

int main(int argc, char **argv) {
	static const struct {
		int class;
		const char *name;
	} classes[] = {
#define C(name) {name, #name}
		C(MPI_ERR_BUFFER),
		C(MPI_ERR_COUNT),
		C(MPI_ERR_TYPE),
		C(MPI_ERR_TAG),
		C(MPI_ERR_COMM),
		C(MPI_ERR_RANK),
		C(MPI_ERR_REQUEST),
		C(MPI_ERR_ROOT),
		C(MPI_ERR_GROUP),
		C(MPI_ERR_OP),
		C(MPI_ERR_TOPOLOGY),
		C(MPI_ERR_DIMS),
		C(MPI_ERR_ARG),
		C(MPI_ERR_UNKNOWN),
		C(MPI_ERR_TRUNCATE),
		C(MPI_ERR_OTHER),
		C(MPI_ERR_INTERN),
		C(MPI_ERR_PENDING),
		C(MPI_ERR_IN_STATUS),
		C(MPI_ERR_ACCESS),
		C(MPI_ERR_AMODE),
		C(MPI_ERR_ASSERT),
		C(MPI_ERR_BAD_FILE),
		C(MPI_ERR_BASE),
		C(MPI_ERR_CONVERSION),
		C(MPI_ERR_DISP),
		C(MPI_ERR_DUP_DATAREP),
		C(MPI_ERR_FILE_EXISTS),
		C(MPI_ERR_FILE_IN_USE),
		C(MPI_ERR_FILE),
		C(MPI_ERR_INFO_KEY),
		C(MPI_ERR_INFO_NOKEY),
		C(MPI_ERR_INFO_VALUE),
		C(MPI_ERR_INFO),
		C(MPI_ERR_IO),
		C(MPI_ERR_KEYVAL),
		C(MPI_ERR_LOCKTYPE),
		C(MPI_ERR_NAME),
		C(MPI_ERR_NO_MEM),
		C(MPI_ERR_NOT_SAME),
		C(MPI_ERR_NO_SPACE),
		C(MPI_ERR_NO_SUCH_FILE),
		C(MPI_ERR_PORT),
		C(MPI_ERR_QUOTA),
		C(MPI_ERR_READ_ONLY),
		C(MPI_ERR_RMA_ATTACH),
		C(MPI_ERR_RMA_CONFLICT),
		C(MPI_ERR_RMA_RANGE),
		C(MPI_ERR_RMA_SHARED),
		C(MPI_ERR_RMA_SYNC),
		C(MPI_ERR_RMA_FLAVOR),
		C(MPI_ERR_SERVICE),
		C(MPI_ERR_SIZE),
		C(MPI_ERR_SPAWN),
		C(MPI_ERR_UNSUPPORTED_DATAREP),
		C(MPI_ERR_UNSUPPORTED_OPERATION),
		C(MPI_ERR_WIN),
#if MPI_VERSION >= 5
		C(MPI_ERR_PROC_ABORTED),
		C(MPI_ERR_VALUE_TOO_LARGE),
		C(MPI_ERR_SESSION),
		C(MPI_ERR_ERRHANDLER),
		C(MPI_ERR_ABI),
#endif
	};
	enum { N = sizeof classes / sizeof *classes };
	static char texts[N][MPI_MAX_ERROR_STRING];
	check_begin_return_errors(&argc, &argv);
	CHECK(MPI_SUCCESS == 0, "MPI_SUCCESS is %d", MPI_SUCCESS);
	for (int i = 0; i < N; i++) {
		int class = -1, len = -1;
		CHECK(classes[i].class > 0 && classes[i].class <= MPI_ERR_LASTCODE, "%s is %d", classes[i].name,
		      classes[i].class);
		CHECK_OK(MPI_Error_class(classes[i].class, &class));
		CHECK(class == classes[i].class, "the class of %s is %d, not %d", classes[i].name, class,
		      classes[i].class);
		CHECK_OK(MPI_Error_string(classes[i].class, texts[i], &len));
		CHECK(len > 0 && len < MPI_MAX_ERROR_STRING && (int)strlen(texts[i]) == len,
		      "%s: text '%s' of length %d", classes[i].name, texts[i], len);
		for (int k = 0; k < i; k++)
			CHECK(classes[i].class != classes[k].class && strcmp(texts[i], texts[k]) != 0,
			      "%s and %s are both %d, '%s'", classes[i].name, classes[k].name, classes[i].class,
			      texts[i]);
	}
	char text[MPI_MAX_ERROR_STRING];
	int len;
	CHECK_OK(MPI_Error_string(MPI_SUCCESS, text, &len));
	CHECK_OK(MPI_Error_string(MPI_ERR_LASTCODE, text, &len));
	CHECK(len > 0 && (int)strlen(text) == len, "MPI_ERR_LASTCODE: text '%s' of length %d", text, len);
	return check_end();
}
