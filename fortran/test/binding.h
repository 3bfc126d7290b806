! The three ways to MPI, for tests that are compiled with each: USE_F08, USE_MPI or USE_MPIF.
! A program unit begins with:    MODULE_MPI / implicit none / INCLUDE_MPI
#if defined(USE_F08)
#define MODULE_MPI use mpi_f08
#define INCLUDE_MPI
#define COMM type(MPI_Comm)
#define DATATYPE type(MPI_Datatype)
#define ERRHANDLER type(MPI_Errhandler)
#define GROUP type(MPI_Group)
#define INFO type(MPI_Info)
#define MESSAGE type(MPI_Message)
#define OP type(MPI_Op)
#define REQUEST type(MPI_Request)
#define WIN type(MPI_Win)
#define STATUS(s) type(MPI_Status)::s
#define STATUSES(s, n) type(MPI_Status)::s(n)
#define SOURCE_OF(s) s % MPI_SOURCE
#define TAG_OF(s) s % MPI_TAG
#define VALUE_OF(h) h % MPI_VAL
#else
#if defined(USE_MPI)
#define MODULE_MPI use mpi
#define INCLUDE_MPI
#else
#define MODULE_MPI
#define INCLUDE_MPI include 'mpif.h'
#endif
#define COMM integer
#define DATATYPE integer
#define ERRHANDLER integer
#define GROUP integer
#define INFO integer
#define MESSAGE integer
#define OP integer
#define REQUEST integer
#define WIN integer
#define STATUS(s) integer ::s(MPI_STATUS_SIZE)
#define STATUSES(s, n) integer ::s(MPI_STATUS_SIZE, n)
#define SOURCE_OF(s) s(MPI_SOURCE)
#define TAG_OF(s) s(MPI_TAG)
#define VALUE_OF(h) h
#endif
