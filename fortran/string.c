/* Conversion of strings. A Fortran string has a length and trailing blanks, a C string ends with a zero byte. */
#include "gompi_f.h"

int gompi_string_in(struct gompi_string *s, const char *from, size_t length, enum gompi_strip strip) {
	while (length > 0 && from[length - 1] == ' ')
		length--;
	if (strip == STRIP_BOTH)
		while (length > 0 && *from == ' ') {
			from++;
			length--;
		}
	s->text = s->small;
	if (length >= sizeof s->small && !(s->text = s->heap = malloc(length + 1)))
		return MPI_ERR_NO_MEM;
	memcpy(s->text, from, length);
	s->text[length] = 0;
	return MPI_SUCCESS;
}

void gompi_string_out(char *to, size_t length, const char *from) {
	size_t n = strnlen(from, length);
	memcpy(to, from, n);
	memset(to + n, ' ', length - n);
}
