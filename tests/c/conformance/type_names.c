/* Proves: a predefined datatype is called by its name; one that has two by that of which the other is a synonym.
 * MPI-5.0 3.2.2 7.8
 * np: 1
 * timeout: 30
 */
#include "../check.h"

static void named(const char *name, MPI_Datatype t, int optional)
{
    char text[MPI_MAX_OBJECT_NAME];
    int len = -1;
    if (optional && t == MPI_DATATYPE_NULL) /* the library does not have it */
        return;
    CHECK_OK(MPI_Type_get_name(t, text, &len));
    CHECK(strcmp(text, name) == 0 && len == (int)strlen(name), "%s is called %s, of length %d", name, text, len);
}

#define NAMED(t) named(#t, t, 0)
#define OPTIONAL(t) named(#t, t, 1)

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    NAMED(MPI_AINT);
    NAMED(MPI_COUNT);
    NAMED(MPI_OFFSET);
    NAMED(MPI_PACKED);
    NAMED(MPI_BYTE);
    NAMED(MPI_SHORT);
    NAMED(MPI_INT);
    NAMED(MPI_LONG);
    NAMED(MPI_LONG_LONG_INT);
    NAMED(MPI_UNSIGNED_SHORT);
    NAMED(MPI_UNSIGNED);
    NAMED(MPI_UNSIGNED_LONG);
    NAMED(MPI_UNSIGNED_LONG_LONG);
    NAMED(MPI_SIGNED_CHAR);
    NAMED(MPI_UNSIGNED_CHAR);
    NAMED(MPI_INT8_T);
    NAMED(MPI_UINT8_T);
    NAMED(MPI_INT16_T);
    NAMED(MPI_UINT16_T);
    NAMED(MPI_INT32_T);
    NAMED(MPI_UINT32_T);
    NAMED(MPI_INT64_T);
    NAMED(MPI_UINT64_T);
    NAMED(MPI_FLOAT);
    NAMED(MPI_DOUBLE);
    NAMED(MPI_LONG_DOUBLE);
    NAMED(MPI_C_COMPLEX);
    NAMED(MPI_C_DOUBLE_COMPLEX);
    NAMED(MPI_C_LONG_DOUBLE_COMPLEX);
    NAMED(MPI_C_BOOL);
    NAMED(MPI_CHAR);
    NAMED(MPI_WCHAR);
    NAMED(MPI_FLOAT_INT);
    NAMED(MPI_DOUBLE_INT);
    NAMED(MPI_LONG_INT);
    NAMED(MPI_2INT);
    NAMED(MPI_SHORT_INT);
    NAMED(MPI_LONG_DOUBLE_INT);
    OPTIONAL(MPI_CXX_BOOL);
    OPTIONAL(MPI_CXX_FLOAT_COMPLEX);
    OPTIONAL(MPI_CXX_DOUBLE_COMPLEX);
    OPTIONAL(MPI_CXX_LONG_DOUBLE_COMPLEX);
    OPTIONAL(MPI_LOGICAL);
    OPTIONAL(MPI_INTEGER);
    OPTIONAL(MPI_REAL);
    OPTIONAL(MPI_COMPLEX);
    OPTIONAL(MPI_DOUBLE_PRECISION);
    OPTIONAL(MPI_DOUBLE_COMPLEX);
    OPTIONAL(MPI_CHARACTER);
    OPTIONAL(MPI_2REAL);
    OPTIONAL(MPI_2DOUBLE_PRECISION);
    OPTIONAL(MPI_2INTEGER);
    OPTIONAL(MPI_INTEGER1);
    OPTIONAL(MPI_INTEGER2);
    OPTIONAL(MPI_INTEGER4);
    OPTIONAL(MPI_INTEGER8);
    OPTIONAL(MPI_REAL4);
    OPTIONAL(MPI_REAL8);
    OPTIONAL(MPI_REAL16);
    OPTIONAL(MPI_COMPLEX8);
    OPTIONAL(MPI_COMPLEX16);
    OPTIONAL(MPI_COMPLEX32);
    named("MPI_LONG_LONG_INT", MPI_LONG_LONG, 0);
    named("MPI_C_COMPLEX", MPI_C_FLOAT_COMPLEX, 0);
    return check_end();
}
