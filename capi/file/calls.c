// The calls that read and write (MPI-5.0 14.4): each describes its access.
#include "file/access.h"
#include "file/z_calls.h"

int gompi_file_read_at_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype datatype,
			 MPI_Status *status) {
	return gompi_file_run(&(struct gompi_file_access){"MPI_File_read_at", fh, false, false, GOMPI_FILE_EXPLICIT,
							  offset, (void *)buf, count, datatype},
			      status);
}
GOMPI_ENTRY(MPI_File_read_at_c, gompi_file_read_at_c);

int gompi_file_iread_at_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype datatype,
			  MPI_Request *request) {
	return gompi_file_start(&(struct gompi_file_access){"MPI_File_iread_at", fh, false, false, GOMPI_FILE_EXPLICIT,
							    offset, (void *)buf, count, datatype},
				request);
}
GOMPI_ENTRY(MPI_File_iread_at_c, gompi_file_iread_at_c);

int gompi_file_read_at_all_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype datatype,
			     MPI_Status *status) {
	return gompi_file_run(&(struct gompi_file_access){"MPI_File_read_at_all", fh, false, true, GOMPI_FILE_EXPLICIT,
							  offset, (void *)buf, count, datatype},
			      status);
}
GOMPI_ENTRY(MPI_File_read_at_all_c, gompi_file_read_at_all_c);

int gompi_file_iread_at_all_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype datatype,
			      MPI_Request *request) {
	return gompi_file_start(&(struct gompi_file_access){"MPI_File_iread_at_all", fh, false, true,
							    GOMPI_FILE_EXPLICIT, offset, (void *)buf, count, datatype},
				request);
}
GOMPI_ENTRY(MPI_File_iread_at_all_c, gompi_file_iread_at_all_c);

int gompi_file_read_at_all_begin_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype datatype) {
	return gompi_file_begin(&(struct gompi_file_access){"MPI_File_read_at_all_begin", fh, false, true,
							    GOMPI_FILE_EXPLICIT, offset, (void *)buf, count, datatype});
}
GOMPI_ENTRY(MPI_File_read_at_all_begin_c, gompi_file_read_at_all_begin_c);

int gompi_file_read_at_all_end(MPI_File fh, void *buf, MPI_Status *status) {
	(void)buf;
	return gompi_file_end("MPI_File_read_at_all_end", "MPI_File_read_at_all_begin", fh, status);
}
GOMPI_ENTRY(MPI_File_read_at_all_end, gompi_file_read_at_all_end);

int gompi_file_read_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status *status) {
	return gompi_file_run(&(struct gompi_file_access){"MPI_File_read", fh, false, false, GOMPI_FILE_INDIVIDUAL, 0,
							  (void *)buf, count, datatype},
			      status);
}
GOMPI_ENTRY(MPI_File_read_c, gompi_file_read_c);

int gompi_file_iread_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request *request) {
	return gompi_file_start(&(struct gompi_file_access){"MPI_File_iread", fh, false, false, GOMPI_FILE_INDIVIDUAL,
							    0, (void *)buf, count, datatype},
				request);
}
GOMPI_ENTRY(MPI_File_iread_c, gompi_file_iread_c);

int gompi_file_read_all_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status *status) {
	return gompi_file_run(&(struct gompi_file_access){"MPI_File_read_all", fh, false, true, GOMPI_FILE_INDIVIDUAL,
							  0, (void *)buf, count, datatype},
			      status);
}
GOMPI_ENTRY(MPI_File_read_all_c, gompi_file_read_all_c);

int gompi_file_iread_all_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request *request) {
	return gompi_file_start(&(struct gompi_file_access){"MPI_File_iread_all", fh, false, true,
							    GOMPI_FILE_INDIVIDUAL, 0, (void *)buf, count, datatype},
				request);
}
GOMPI_ENTRY(MPI_File_iread_all_c, gompi_file_iread_all_c);

int gompi_file_read_all_begin_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype) {
	return gompi_file_begin(&(struct gompi_file_access){"MPI_File_read_all_begin", fh, false, true,
							    GOMPI_FILE_INDIVIDUAL, 0, (void *)buf, count, datatype});
}
GOMPI_ENTRY(MPI_File_read_all_begin_c, gompi_file_read_all_begin_c);

int gompi_file_read_all_end(MPI_File fh, void *buf, MPI_Status *status) {
	(void)buf;
	return gompi_file_end("MPI_File_read_all_end", "MPI_File_read_all_begin", fh, status);
}
GOMPI_ENTRY(MPI_File_read_all_end, gompi_file_read_all_end);

int gompi_file_read_shared_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status *status) {
	return gompi_file_run(&(struct gompi_file_access){"MPI_File_read_shared", fh, false, false, GOMPI_FILE_SHARED,
							  0, (void *)buf, count, datatype},
			      status);
}
GOMPI_ENTRY(MPI_File_read_shared_c, gompi_file_read_shared_c);

int gompi_file_iread_shared_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request *request) {
	return gompi_file_start(&(struct gompi_file_access){"MPI_File_iread_shared", fh, false, false,
							    GOMPI_FILE_SHARED, 0, (void *)buf, count, datatype},
				request);
}
GOMPI_ENTRY(MPI_File_iread_shared_c, gompi_file_iread_shared_c);

int gompi_file_read_ordered_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status *status) {
	return gompi_file_run(&(struct gompi_file_access){"MPI_File_read_ordered", fh, false, true, GOMPI_FILE_SHARED,
							  0, (void *)buf, count, datatype},
			      status);
}
GOMPI_ENTRY(MPI_File_read_ordered_c, gompi_file_read_ordered_c);

int gompi_file_read_ordered_begin_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype) {
	return gompi_file_begin(&(struct gompi_file_access){"MPI_File_read_ordered_begin", fh, false, true,
							    GOMPI_FILE_SHARED, 0, (void *)buf, count, datatype});
}
GOMPI_ENTRY(MPI_File_read_ordered_begin_c, gompi_file_read_ordered_begin_c);

int gompi_file_read_ordered_end(MPI_File fh, void *buf, MPI_Status *status) {
	(void)buf;
	return gompi_file_end("MPI_File_read_ordered_end", "MPI_File_read_ordered_begin", fh, status);
}
GOMPI_ENTRY(MPI_File_read_ordered_end, gompi_file_read_ordered_end);

int gompi_file_write_at_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count, MPI_Datatype datatype,
			  MPI_Status *status) {
	return gompi_file_run(&(struct gompi_file_access){"MPI_File_write_at", fh, true, false, GOMPI_FILE_EXPLICIT,
							  offset, (void *)buf, count, datatype},
			      status);
}
GOMPI_ENTRY(MPI_File_write_at_c, gompi_file_write_at_c);

int gompi_file_iwrite_at_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count, MPI_Datatype datatype,
			   MPI_Request *request) {
	return gompi_file_start(&(struct gompi_file_access){"MPI_File_iwrite_at", fh, true, false, GOMPI_FILE_EXPLICIT,
							    offset, (void *)buf, count, datatype},
				request);
}
GOMPI_ENTRY(MPI_File_iwrite_at_c, gompi_file_iwrite_at_c);

int gompi_file_write_at_all_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count, MPI_Datatype datatype,
			      MPI_Status *status) {
	return gompi_file_run(&(struct gompi_file_access){"MPI_File_write_at_all", fh, true, true, GOMPI_FILE_EXPLICIT,
							  offset, (void *)buf, count, datatype},
			      status);
}
GOMPI_ENTRY(MPI_File_write_at_all_c, gompi_file_write_at_all_c);

int gompi_file_iwrite_at_all_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count, MPI_Datatype datatype,
			       MPI_Request *request) {
	return gompi_file_start(&(struct gompi_file_access){"MPI_File_iwrite_at_all", fh, true, true,
							    GOMPI_FILE_EXPLICIT, offset, (void *)buf, count, datatype},
				request);
}
GOMPI_ENTRY(MPI_File_iwrite_at_all_c, gompi_file_iwrite_at_all_c);

int gompi_file_write_at_all_begin_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
				    MPI_Datatype datatype) {
	return gompi_file_begin(&(struct gompi_file_access){"MPI_File_write_at_all_begin", fh, true, true,
							    GOMPI_FILE_EXPLICIT, offset, (void *)buf, count, datatype});
}
GOMPI_ENTRY(MPI_File_write_at_all_begin_c, gompi_file_write_at_all_begin_c);

int gompi_file_write_at_all_end(MPI_File fh, const void *buf, MPI_Status *status) {
	(void)buf;
	return gompi_file_end("MPI_File_write_at_all_end", "MPI_File_write_at_all_begin", fh, status);
}
GOMPI_ENTRY(MPI_File_write_at_all_end, gompi_file_write_at_all_end);

int gompi_file_write_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status *status) {
	return gompi_file_run(&(struct gompi_file_access){"MPI_File_write", fh, true, false, GOMPI_FILE_INDIVIDUAL, 0,
							  (void *)buf, count, datatype},
			      status);
}
GOMPI_ENTRY(MPI_File_write_c, gompi_file_write_c);

int gompi_file_iwrite_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request *request) {
	return gompi_file_start(&(struct gompi_file_access){"MPI_File_iwrite", fh, true, false, GOMPI_FILE_INDIVIDUAL,
							    0, (void *)buf, count, datatype},
				request);
}
GOMPI_ENTRY(MPI_File_iwrite_c, gompi_file_iwrite_c);

int gompi_file_write_all_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status *status) {
	return gompi_file_run(&(struct gompi_file_access){"MPI_File_write_all", fh, true, true, GOMPI_FILE_INDIVIDUAL,
							  0, (void *)buf, count, datatype},
			      status);
}
GOMPI_ENTRY(MPI_File_write_all_c, gompi_file_write_all_c);

int gompi_file_iwrite_all_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
			    MPI_Request *request) {
	return gompi_file_start(&(struct gompi_file_access){"MPI_File_iwrite_all", fh, true, true,
							    GOMPI_FILE_INDIVIDUAL, 0, (void *)buf, count, datatype},
				request);
}
GOMPI_ENTRY(MPI_File_iwrite_all_c, gompi_file_iwrite_all_c);

int gompi_file_write_all_begin_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype) {
	return gompi_file_begin(&(struct gompi_file_access){"MPI_File_write_all_begin", fh, true, true,
							    GOMPI_FILE_INDIVIDUAL, 0, (void *)buf, count, datatype});
}
GOMPI_ENTRY(MPI_File_write_all_begin_c, gompi_file_write_all_begin_c);

int gompi_file_write_all_end(MPI_File fh, const void *buf, MPI_Status *status) {
	(void)buf;
	return gompi_file_end("MPI_File_write_all_end", "MPI_File_write_all_begin", fh, status);
}
GOMPI_ENTRY(MPI_File_write_all_end, gompi_file_write_all_end);

int gompi_file_write_shared_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
			      MPI_Status *status) {
	return gompi_file_run(&(struct gompi_file_access){"MPI_File_write_shared", fh, true, false, GOMPI_FILE_SHARED,
							  0, (void *)buf, count, datatype},
			      status);
}
GOMPI_ENTRY(MPI_File_write_shared_c, gompi_file_write_shared_c);

int gompi_file_iwrite_shared_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
			       MPI_Request *request) {
	return gompi_file_start(&(struct gompi_file_access){"MPI_File_iwrite_shared", fh, true, false,
							    GOMPI_FILE_SHARED, 0, (void *)buf, count, datatype},
				request);
}
GOMPI_ENTRY(MPI_File_iwrite_shared_c, gompi_file_iwrite_shared_c);

int gompi_file_write_ordered_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
			       MPI_Status *status) {
	return gompi_file_run(&(struct gompi_file_access){"MPI_File_write_ordered", fh, true, true, GOMPI_FILE_SHARED,
							  0, (void *)buf, count, datatype},
			      status);
}
GOMPI_ENTRY(MPI_File_write_ordered_c, gompi_file_write_ordered_c);

int gompi_file_write_ordered_begin_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype) {
	return gompi_file_begin(&(struct gompi_file_access){"MPI_File_write_ordered_begin", fh, true, true,
							    GOMPI_FILE_SHARED, 0, (void *)buf, count, datatype});
}
GOMPI_ENTRY(MPI_File_write_ordered_begin_c, gompi_file_write_ordered_begin_c);

int gompi_file_write_ordered_end(MPI_File fh, const void *buf, MPI_Status *status) {
	(void)buf;
	return gompi_file_end("MPI_File_write_ordered_end", "MPI_File_write_ordered_begin", fh, status);
}
GOMPI_ENTRY(MPI_File_write_ordered_end, gompi_file_write_ordered_end);
