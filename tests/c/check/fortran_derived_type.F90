! clean: Two origins put the two components of a derived type (MPI-5.0 12.3).
! race: One origin puts a derived type, the other puts its second component (MPI-5.0 12.3).
!
! np: 3
! ref: mpich
! find: race window=q target=2 lines=first,second needs=calls
program main
   use, intrinsic :: iso_c_binding
   use mpi_f08
   implicit none
   integer, parameter :: aint = MPI_ADDRESS_KIND
   integer :: rank
   type, bind(C) :: particle
      real(c_double) :: weight
      real(c_double) :: charge
   end type particle
   type(particle), save, asynchronous :: mem(4) = particle(0, 0)
   type(particle), asynchronous :: one = particle(1, 2)
   type(MPI_Win) :: win

   call MPI_Init()
   call MPI_Comm_rank(MPI_COMM_WORLD, rank)
   call MPI_Win_create(mem, 64_aint, 8, MPI_INFO_NULL, MPI_COMM_WORLD, win)
   call MPI_Win_set_name(win, 'q')
   call MPI_Win_fence(0, win)
#ifdef WRONG
   if (rank == 0) call MPI_Put(one, 2, MPI_DOUBLE_PRECISION, 2, 2_aint, 2, MPI_DOUBLE_PRECISION, win) ! @first
#else
   if (rank == 0) call MPI_Put(one%weight, 1, MPI_DOUBLE_PRECISION, 2, 2_aint, 1, MPI_DOUBLE_PRECISION, win)
#endif
   if (rank == 1) call MPI_Put(one%charge, 1, MPI_DOUBLE_PRECISION, 2, 3_aint, 1, MPI_DOUBLE_PRECISION, win) ! @second
   call MPI_Win_fence(0, win)
   call MPI_Win_free(win)
   call MPI_Finalize()
end program main
