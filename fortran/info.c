/* Values of info objects and names of process sets. In Fortran their lengths do not include a terminating zero. */
#include "section.h"

#include <limits.h>

ENTRY void NAME(info_get)(const integer *info, const char *key, const integer *valuelen, char *value, logical *flag,
			  integer *ierror, size_t key_len, size_t value_len) {
	struct gompi_string c_key = {0};
	size_t room = *valuelen > 0 ? (size_t)*valuelen + 1 : 1;
	char *c_value = NULL;
	int c_flag = 0, rc = fits("MPI_Info_get", "valuelen", *valuelen, MPI_ERR_ARG);
	if (!rc && !(c_value = calloc(room, 1)))
		rc = MPI_ERR_NO_MEM;
	if (!rc)
		rc = gompi_string_in(&c_key, key, key_len, STRIP_BOTH);
	if (rc)
		rc = gompi_raise_pending(RAISE_SELF, 0, rc);
	else
		rc = CALL(Info_get)(info_in(*info), c_key.text, (int)*valuelen, c_value, &c_flag);
	if (!rc) {
		if (c_flag)
			gompi_string_out(value, value_len, c_value);
		*flag = logical_out(c_flag);
	}
	free(c_value);
	gompi_string_free(&c_key);
	done(ierror, rc);
}
SAME(info_get, info_get_f08)

/* Converts the length of a string to C's length, which includes the terminating zero. The value 0 asks only for the
 * length of the string; it and negative values remain unchanged. A result that does not fit into an int becomes
 * INT_MAX, which is longer than any string, or INT_MIN if it is negative. */
static int length_in(integer length) {
	if (length <= 0)
		return wide(length) ? INT_MIN : (int)length;
	return length >= INT_MAX ? INT_MAX : (int)length + 1;
}

ENTRY void NAME(info_get_string)(const integer *info, const char *key, integer *buflen, char *value, logical *flag,
				 integer *ierror, size_t key_len, size_t value_len) {
	struct gompi_string c_key = {0};
	int c_len = length_in(*buflen);
	char *c_value = calloc(c_len > 0 ? (size_t)c_len : 1, 1);
	int c_flag = 0, rc = c_value ? gompi_string_in(&c_key, key, key_len, STRIP_BOTH) : MPI_ERR_NO_MEM;
	if (rc)
		rc = gompi_raise_pending(RAISE_SELF, 0, rc);
	else
		rc = CALL(Info_get_string)(info_in(*info), c_key.text, &c_len, c_value, &c_flag);
	if (!rc) {
		if (c_flag) {
			if (*buflen > 0)
				gompi_string_out(value, value_len, c_value);
			*buflen = c_len - 1;
		}
		*flag = logical_out(c_flag);
	}
	free(c_value);
	gompi_string_free(&c_key);
	done(ierror, rc);
}
SAME(info_get_string, info_get_string_f08)

ENTRY void NAME(session_get_nth_pset)(const integer *session, const integer *info, const integer *n, integer *pset_len,
				      char *pset_name, integer *ierror, size_t name_len) {
	int c_len = length_in(*pset_len);
	char *c_name = calloc(c_len > 0 ? (size_t)c_len : 1, 1);
	int rc = c_name ? fits("MPI_Session_get_nth_pset", "n", *n, MPI_ERR_ARG) : MPI_ERR_NO_MEM;
	if (rc)
		rc = gompi_raise_pending(RAISE_SESSION, *session, rc);
	else
		rc = CALL(Session_get_nth_pset)(session_in(*session), info_in(*info), (int)*n, &c_len, c_name);
	if (!rc) {
		if (*pset_len > 0)
			gompi_string_out(pset_name, name_len, c_name);
		*pset_len = c_len - 1;
	}
	free(c_name);
	done(ierror, rc);
}
SAME(session_get_nth_pset, session_get_nth_pset_f08)
