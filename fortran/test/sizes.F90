! Tests MPI_SIZEOF of variables of every kind, the functions that select a datatype by precision or by size, and
! functions for addresses.
!
! np: 1
! timeout: 60
! bindings: f08 mpi
! with: check.F90
#include "binding.inc"

program sizes
  use check
  use, intrinsic :: iso_fortran_env, only: int8, int16, int64, real32, real64
  use, intrinsic :: iso_c_binding
  MODULE_MPI
  implicit none
  integer :: ierror, n
  integer(int8) :: i1(3)
  integer(int16) :: i2
  integer(int64) :: i8(2, 2)
  real(real32) :: r4
  double precision :: seconds
  real(real64) :: r8(5)
  complex(real64) :: c16
  logical :: l, yes, no
  character(len=7) :: text(2)
  DATATYPE :: t
  integer(kind=MPI_ADDRESS_KIND) :: a, b

  call MPI_Init(ierror)
  call check_begin()
  call MPI_Sizeof(i1, n, ierror)
  call expect(n, 1, 'integer(int8)')
  call MPI_Sizeof(i2, n, ierror)
  call expect(n, 2, 'integer(int16)')
  call MPI_Sizeof(i8, n, ierror)
  call expect(n, 8, 'integer(int64)')
  call MPI_Sizeof(r4, n, ierror)
  call expect(n, 4, 'real(real32)')
  call MPI_Sizeof(r8(1:5:2), n, ierror)
  call expect(n, 8, 'real(real64)')
  call MPI_Sizeof(c16, n, ierror)
  call expect(n, 16, 'complex(real64)')
  call MPI_Sizeof(l, n, ierror)
  call expect(n, integer_bytes, 'logical')
  call MPI_Sizeof(text, n, ierror)
  call expect(n, 7, 'character')
  call MPI_Abi_get_fortran_booleans(integer_bytes, yes, no, l, ierror)
  call expect(l .and. transfer(yes, 0) == transfer(.true., 0) .and. transfer(no, 0) == transfer(.false., 0), 'abi_get_fortran_booleans')
  call MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, t, ierror)
  call MPI_Type_size(t, n, ierror)
  call expect(n, 8, 'type_match_size')
  call MPI_Type_create_f90_real(12, MPI_UNDEFINED, t, ierror)
  call MPI_Type_size(t, n, ierror)
  call expect(n, 8, 'type_create_f90_real')
  call MPI_Type_create_f90_integer(9, t, ierror)
  call MPI_Type_size(t, n, ierror)
  call expect(n, 4, 'type_create_f90_integer')
  call MPI_Get_address(r8(2), a, ierror)
  call MPI_Get_address(r8(5), b, ierror)
  call expect(MPI_Aint_diff(b, a) == 24, 'aint_diff')
  call expect(MPI_Aint_add(a, 24_MPI_ADDRESS_KIND) == b, 'aint_add')
  call MPI_Get_address(r8(5:1:-3), a, ierror)
#ifdef USE_F08
  call expect(a == b, 'get_address of a section is that of its first element')
#endif
  seconds = MPI_Wtime()
  call expect(MPI_Wtick() > 0, 'wtick')
  call expect(MPI_Wtime() >= seconds, 'wtime')
  call check_end()
end program
