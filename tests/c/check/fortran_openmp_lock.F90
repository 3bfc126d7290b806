! clean: Two threads of rank 0 put to one integer and flush while they hold one OpenMP lock (MPI-5.0 12.7).
! race: Two threads of rank 0 put to one integer and flush while each holds its own OpenMP lock (MPI-5.0 12.7).
!
! np: 2
! ref: mpich
! find: race window=q target=1 lines=put,put needs=calls
program main
   use mpi_f08
   use omp_lib
   implicit none
   integer, parameter :: aint = MPI_ADDRESS_KIND
   integer :: rank, provided
   integer, save, asynchronous :: mem(8) = 0, values(2) = [1, 2]
   type(MPI_Win) :: win
   call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided)
   if (provided < MPI_THREAD_MULTIPLE) call MPI_Abort(MPI_COMM_WORLD, 1)
   call MPI_Comm_rank(MPI_COMM_WORLD, rank)
   call MPI_Win_create(mem, 32_aint, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
   call MPI_Win_set_name(win, 'q')
   call MPI_Win_lock_all(0, win)
   if (rank == 0) then
      block
         integer(omp_lock_kind) :: locks(2)
         integer :: i
         call omp_init_lock(locks(1))
         call omp_init_lock(locks(2))
!$omp parallel num_threads(2) private(i)
#ifdef WRONG
         i = 1 + omp_get_thread_num()
#else
         i = 1 + omp_get_thread_num() / 2
#endif
         call omp_set_lock(locks(i))
         call MPI_Put(values(1), 1, MPI_INTEGER, 1, 0_aint, 1, MPI_INTEGER, win) ! @put
         call MPI_Win_flush(1, win)
         call omp_unset_lock(locks(i))
!$omp end parallel
      end block
   end if
   call MPI_Win_unlock_all(win)
   call MPI_Win_free(win)
   call MPI_Finalize()
end program
