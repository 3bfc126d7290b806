! clean: Rank 1 doubles all elements but the last, which rank 0 puts (MPI-5.0 12.7).
! race: Rank 1 doubles all elements of an array while rank 0 puts the last element (MPI-5.0 12.7).
!
! np: 2
! ref: mpich
! find: race window=q target=1 lines=first,second needs=accesses
program main
   use mpi_f08
   implicit none
   integer, parameter :: aint = MPI_ADDRESS_KIND
   integer, save, asynchronous :: mem(8) = 0
   type(MPI_Win) :: win
   integer :: rank
   integer, asynchronous :: value = 1
   integer :: i

   call MPI_Init()
   call MPI_Comm_rank(MPI_COMM_WORLD, rank)
   call MPI_Win_create(mem, 32_aint, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
   call MPI_Win_set_name(win, 'q')
   call MPI_Win_fence(0, win)
   if (rank == 0) call MPI_Put(value, 1, MPI_INTEGER, 1, 7_aint, 1, MPI_INTEGER, win) ! @first
   if (rank == 1) then
#ifdef WRONG
      do i = 1, 8
#else
      do i = 1, 7
#endif
         mem(i) = 2 * mem(i) ! @second
      end do
   end if
   call MPI_Win_fence(0, win)
   call MPI_Win_free(win)
   call MPI_Finalize()
end program main
