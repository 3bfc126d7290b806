! clean: An INTEGER is sent and received as an INTEGER (MPI-5.0 3.3.1).
! error: An INTEGER is sent and received as a REAL (MPI-5.0 3.3.1).
!
! np: 2
! ref: mpich
! find: signature lines=send,recv
program main
   use mpi_f08
   implicit none
   integer :: rank
   integer :: value = 1
#ifdef WRONG
   real :: number
#else
   integer :: number
#endif

   call MPI_Init()
   call MPI_Comm_rank(MPI_COMM_WORLD, rank)
   if (rank == 0) call MPI_Send(value, 1, MPI_INTEGER, 1, 0, MPI_COMM_WORLD) ! @send
#ifdef WRONG
   if (rank == 1) call MPI_Recv(number, 1, MPI_REAL, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE) ! @recv
#else
   if (rank == 1) call MPI_Recv(number, 1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
#endif
   call MPI_Finalize()
end program main
