! What C cannot know: the values of this compiler's LOGICALs.
module gompi_logical
  use, intrinsic :: iso_c_binding, only: C_INT
  implicit none
  integer(C_INT), bind(C, name="gompi_f_true"), protected :: logical_true = transfer(.true., 0)
  integer(C_INT), bind(C, name="gompi_f_false"), protected :: logical_false = transfer(.false., 0)
end module
