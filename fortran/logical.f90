! Facts about this compiler for the C code: the values of its LOGICALs, the sizes of its default types, and the kinds
! that it has.
module gompi_logical
  use, intrinsic :: iso_c_binding, only: C_INT
  use, intrinsic :: iso_fortran_env, only: logical_kinds, integer_kinds, real_kinds
  implicit none
  integer, bind(C, name="gompi_f_true"), protected :: logical_true = transfer(.true., 0)
  integer, bind(C, name="gompi_f_false"), protected :: logical_false = transfer(.false., 0)
  integer(C_INT), bind(C, name="gompi_f_sizes"), protected :: sizes(4) = &
    [storage_size(.true.), storage_size(0), storage_size(0.0), storage_size(0.0d0)] / 8
  ! The kinds of each type that the compiler has. A kind is the size in bytes. A 0 ends the list.
  integer(C_INT), bind(C, name="gompi_f_logical_kinds"), protected :: logicals(8) = &
    [logical_kinds, spread(0, 1, 8 - size(logical_kinds))]
  integer(C_INT), bind(C, name="gompi_f_integer_kinds"), protected :: integers(8) = &
    [integer_kinds, spread(0, 1, 8 - size(integer_kinds))]
  integer(C_INT), bind(C, name="gompi_f_real_kinds"), protected :: reals(8) = &
    [real_kinds, spread(0, 1, 8 - size(real_kinds))]
end module
