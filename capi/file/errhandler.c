// Error handlers of files (MPI-5.0 9.3.3 and 9.5).
#include "file/file.h"
#include "file/z_calls.h"
#include "message/call.h"

struct gompi_errhandler_ref gompi_file_null_errhandler = {(uintptr_t)MPI_ERRORS_RETURN, (uintptr_t)MPI_ERRORS_RETURN};

// Returns the error handler of a file or of MPI_FILE_NULL; NULL if `fh` is neither, or if MPI is not running.
static struct gompi_errhandler_ref *errhandler_of(MPI_File fh) {
	struct gompi_file *f = gompi_file_get(fh);
	if (gompi_load(&gompi_app_messages) == NULL)
		return NULL;
	return f != NULL ? &f->errhandler : fh == MPI_FILE_NULL ? &gompi_file_null_errhandler : NULL;
}

uintptr_t gompi_file_errhandler_function(MPI_File fh) {
	struct gompi_errhandler_ref *r = errhandler_of(fh);
	return gompi_load(r != NULL ? &r->function : &gompi_file_null_errhandler.function);
}

int gompi_file_set_errhandler(MPI_File file, MPI_Errhandler errhandler) {
	static const char call[] = "MPI_File_set_errhandler";
	struct gompi_error_status v;
	struct gompi_errhandler_ref *r = errhandler_of(file);
	if (r == NULL)
		return gompi_not_a_file(file, call);
	if (gompi_errhandler_attach(&v, GOMPI_ON_FILE, r, errhandler) != MPI_SUCCESS)
		return gompi_file_raise(file, call, &v);
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_File_set_errhandler, gompi_file_set_errhandler);

int gompi_file_get_errhandler(MPI_File file, MPI_Errhandler *errhandler) {
	static const char call[] = "MPI_File_get_errhandler";
	struct gompi_errhandler_ref *r = errhandler_of(file);
	if (r == NULL)
		return gompi_not_a_file(file, call);
	if (errhandler == NULL)
		return gompi_null_argument_error(call, "errhandler", GOMPI_ON_FILE, (uintptr_t)file);
	*errhandler = (MPI_Errhandler)gompi_errhandler_acquire(r);
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_File_get_errhandler, gompi_file_get_errhandler);

int gompi_file_call_errhandler(MPI_File fh, int errorcode) {
	static const char call[] = "MPI_File_call_errhandler";
	struct gompi_errhandler_ref *r = errhandler_of(fh);
	if (r == NULL)
		return gompi_not_a_file(fh, call);
	return gompi_errhandler_call(r, call, errorcode, GOMPI_ON_FILE, (uintptr_t)fh);
}
GOMPI_ENTRY(MPI_File_call_errhandler, gompi_file_call_errhandler);
