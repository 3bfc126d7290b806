! clean: Two origins put to the odd and to the even elements of an array, by a datatype at the target (MPI-5.0 12.3).
! race: Two origins put to the same elements of an array, the odd ones, by a datatype at the target (MPI-5.0 12.3).
!
! np: 3
! ref: mpich
! find: race window=q target=2 lines=first,second needs=calls
program main
   use mpi_f08
   implicit none
   integer, parameter :: aint = MPI_ADDRESS_KIND
   integer, save, asynchronous :: mem(8) = 0
   type(MPI_Win) :: win
   integer :: rank
   integer, asynchronous :: values(4) = [1, 2, 3, 4]
   type(MPI_Datatype) :: comb

   call MPI_Init()
   call MPI_Comm_rank(MPI_COMM_WORLD, rank)
   call MPI_Win_create(mem, 32_aint, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
   call MPI_Win_set_name(win, 'q')
   call MPI_Type_vector(4, 1, 2, MPI_INTEGER, comb)
   call MPI_Type_commit(comb)
   call MPI_Win_fence(0, win)
   if (rank == 0) call MPI_Put(values, 4, MPI_INTEGER, 2, 0_aint, 1, comb, win) ! @first
#ifdef WRONG
   if (rank == 1) call MPI_Put(values, 4, MPI_INTEGER, 2, 0_aint, 1, comb, win) ! @second
#else
   if (rank == 1) call MPI_Put(values, 4, MPI_INTEGER, 2, 1_aint, 1, comb, win)
#endif
   call MPI_Win_fence(0, win)
   call MPI_Type_free(comb)
   call MPI_Win_free(win)
   call MPI_Finalize()
end program main
