/* Proves: MPI_Abi_get_version, MPI_Abi_get_info and the Fortran queries (sizes of types, values of LOGICALs) return the
 *   right values. All of these calls also work before MPI_Init. The library knows the Fortran values from the start, so
 *   the calls that set them return MPI_ERR_ABI. MPI-5.0 20
 * np: 1
 * ref: none (functions of MPI 5.0)
 * timeout: 20
 */
#include "../check.h"

static void key_is(MPI_Info info, const char *key, const char *want) {
	char value[32] = "";
	int flag = 0, length = sizeof value;
	CHECK_OK(MPI_Info_get_string(info, key, &length, value, &flag));
	CHECK(flag && strcmp(value, want) == 0, "%s is \"%s\", not \"%s\"", key, flag ? value : "(missing)", want);
}

static void look(void) {
	MPI_Info info;
	int major = 0, minor = -1, set = 0;
	CHECK_OK(MPI_Abi_get_version(&major, &minor));
	CHECK(major == MPI_ABI_VERSION && minor == MPI_ABI_SUBVERSION, "version %d.%d", major, minor);
	CHECK_OK(MPI_Abi_get_info(&info));
	key_is(info, "mpi_aint_size", "8");
	key_is(info, "mpi_count_size", "8");
	key_is(info, "mpi_offset_size", "8");
	CHECK_OK(MPI_Info_free(&info));
	CHECK_OK(MPI_Abi_get_fortran_info(&info));
	CHECK(info != MPI_INFO_NULL, "nothing is known of Fortran");
	key_is(info, "mpi_logical_size", "4");
	key_is(info, "mpi_integer_size", "4");
	key_is(info, "mpi_real_size", "4");
	key_is(info, "mpi_double_precision_size", "8");
	key_is(info, "mpi_integer8_supported", "true");
	key_is(info, "mpi_double_complex_supported", "true");
	CHECK_OK(MPI_Info_free(&info));
	for (int size = 1; size <= 16; size *= 2) {
		unsigned char yes[17], no[17];
		memset(yes, 7, sizeof yes);
		memset(no, 7, sizeof no);
		CHECK_OK(MPI_Abi_get_fortran_booleans(size, yes, no, &set));
		CHECK(set, "LOGICALs of %d bytes are not set", size);
		CHECK(yes[0] == 1 && no[0] == 0, ".TRUE. is %d, .FALSE. %d", yes[0], no[0]);
		CHECK(yes[size] == 7 && no[size] == 7, "more than %d bytes were written", size);
		CHECK(size == 1 || (yes[size - 1] == 0 && no[size - 1] == 0), "the upper bytes of a LOGICAL of %d",
		      size);
	}
}

int main(int argc, char **argv) {
	int yes = 1, no = 0, set;
	MPI_Info info;
	look();
	check_begin(&argc, &argv);
	look();
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	CHECK_CLASS(MPI_Abi_get_fortran_booleans(3, &yes, &no, &set), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Abi_set_fortran_booleans(4, &yes, &no), MPI_ERR_ABI);
	CHECK_OK(MPI_Abi_get_fortran_info(&info));
	CHECK_CLASS(MPI_Abi_set_fortran_info(info), MPI_ERR_ABI);
	CHECK_OK(MPI_Info_free(&info));
	return check_end();
}
