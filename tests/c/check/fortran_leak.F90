! clean: A datatype that a subroutine makes is freed by its caller.
! error: A datatype that a subroutine makes is never freed (MPI-5.0 5.1.9).
!
! np: 2
! ref: mpich
! find: leak object=datatype lines=made
program main
   use mpi_f08
   implicit none
   type(MPI_Datatype) :: column

   call MPI_Init()
   call make(column)
#ifndef WRONG
   call MPI_Type_free(column)
#endif
   call MPI_Finalize()
contains
   subroutine make(type)
      type(MPI_Datatype), intent(out) :: type
      call MPI_Type_vector(4, 1, 2, MPI_INTEGER, type) ! @made
      call MPI_Type_commit(type)
   end subroutine make
end program main
