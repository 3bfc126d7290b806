! Sessions, communicators from groups, and processes that are started with arguments.
!
! np: 1 2
! timeout: 60
! bindings: f08 mpi mpif
! with: check.F90
#include "binding.inc"

program processes
  use check
  MODULE_MPI
  implicit none
  INCLUDE_MPI
  character(len=MPI_MAX_PSET_NAME_LEN) :: name
  character(len=MPI_MAX_PORT_NAME) :: port, found
  character(len=200) :: program_name, argument
  character(len=10) :: arguments(3)
  character(len=200) :: commands(2)
  integer :: ierror, n, i, length, rank, total, codes(2), numbers(2), class, code
  logical :: has_world, flag
  SESSION :: s
  GROUP :: world
  COMM :: c, parent, inter
  ERRHANDLER :: handler
  INFO :: hints, infos(2)

  call get_command_argument(0, program_name)
  call get_command_argument(1, argument)
  if (argument /= 'child') then
    call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, s, ierror)
    call expect(ierror, MPI_SUCCESS, 'session_init')
    call MPI_Session_get_num_psets(s, MPI_INFO_NULL, n, ierror)
    has_world = .false.
    do i = 0, n - 1
      length = 0
      call MPI_Session_get_nth_pset(s, MPI_INFO_NULL, i, length, name, ierror)
      call expect(length > 5 .and. length < 40, 'length of a process set')
      length = len(name)
      call MPI_Session_get_nth_pset(s, MPI_INFO_NULL, i, length, name, ierror)
      if (name == 'mpi://WORLD') has_world = .true.
    end do
    call expect(has_world, 'mpi://WORLD exists')
    call MPI_Session_get_pset_info(s, 'mpi://SELF', hints, ierror)
    length = len(name)
    call MPI_Info_get_string(hints, 'mpi_size', length, name, flag, ierror)
    call expect(name, '1', 'size of mpi://SELF')
    call MPI_Info_free(hints, ierror)
    call MPI_Session_get_errhandler(s, handler, ierror)
    call expect(handler == MPI_ERRORS_RETURN, 'error handler of the session')
    call MPI_Group_from_session_pset(s, 'mpi://NONE', world, code)
    call MPI_Error_class(code, class, ierror)
    call expect(class, MPI_ERR_ARG, 'unknown process set')
    call MPI_Group_from_session_pset(s, 'mpi://WORLD', world, ierror)
    call MPI_Comm_create_from_group(world, 'fortran', MPI_INFO_NULL, MPI_ERRORS_RETURN, c, ierror)
    call expect(ierror, MPI_SUCCESS, 'create_from_group')
    call MPI_Comm_size(c, n, ierror)
    call MPI_Allreduce(1, total, 1, MPI_INTEGER, MPI_SUM, c, ierror)
    call expect(total, n, 'allreduce')
    call MPI_Comm_free(c, ierror)
    call MPI_Group_free(world, ierror)
    call MPI_Session_finalize(s, ierror)
    call expect(s == MPI_SESSION_NULL, 'handle of the finalized session')
  end if

  call MPI_Init(ierror)
  call check_begin()
  call MPI_Comm_get_parent(parent, ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  if (argument == 'child') then
    call expect(parent /= MPI_COMM_NULL, 'no parent')
    call expect(command_argument_count(), 2, 'number of arguments')
    call get_command_argument(2, argument)
    call expect(argument, 'a b', 'second argument')
    call MPI_Allreduce(1, total, 1, MPI_INTEGER, MPI_SUM, parent, ierror)
    call MPI_Comm_disconnect(parent, ierror)
  else
    arguments = [character(len=10) :: 'child', 'a b', ' ']
    call MPI_Comm_spawn(program_name, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, inter, codes, ierror)
    call expect(ierror, MPI_SUCCESS, 'spawn')
    call expect(all(codes == MPI_SUCCESS), 'error codes')
    call MPI_Allreduce(1, total, 1, MPI_INTEGER, MPI_SUM, inter, ierror)
    call expect(total, 2, 'children')
    call MPI_Comm_disconnect(inter, ierror)
    commands = program_name
    numbers = 1
    infos = MPI_INFO_NULL
    call spawn_two()
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierror)
    call MPI_Comm_spawn('/nowhere/program', MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, inter, &
        MPI_ERRCODES_IGNORE, code)
    call MPI_Error_class(code, class, ierror)
    call expect(class, MPI_ERR_SPAWN, 'class of a failed spawn')
    if (rank == 0) then
      call MPI_Open_port(MPI_INFO_NULL, port, ierror)
      call MPI_Publish_name('fortran service', MPI_INFO_NULL, port, ierror)
      call expect(ierror, MPI_SUCCESS, 'publish')
      call MPI_Lookup_name('fortran service', MPI_INFO_NULL, found, ierror)
      call expect(found == port, 'the published port')
      call MPI_Unpublish_name('fortran service', MPI_INFO_NULL, port, ierror)
      call MPI_Close_port(port, ierror)
      call expect(ierror, MPI_SUCCESS, 'close_port')
    end if
  end if
  call check_end()
contains
  ! Starts one process for each of two commands. The rows of the arguments belong to the commands.
  subroutine spawn_two()
    character(len=10) :: rows(2, 3)
    rows(:, 1) = 'child'
    rows(:, 2) = 'a b'
    rows(:, 3) = ' '
    call MPI_Comm_spawn_multiple(2, commands, rows, numbers, infos, 0, MPI_COMM_WORLD, inter, codes, ierror)
    call expect(ierror, MPI_SUCCESS, 'spawn_multiple')
    call MPI_Allreduce(1, total, 1, MPI_INTEGER, MPI_SUM, inter, ierror)
    call expect(total, 2, 'children of two commands')
    call MPI_Comm_disconnect(inter, ierror)
  end subroutine
end program
