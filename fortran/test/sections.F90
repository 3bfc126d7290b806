! Tests sections of rank 1 to 4, with positive and negative strides in every dimension. Put and similar calls must
! transfer exactly the section's elements, in array element order, and get must write exactly these elements. The count
! may be any value up to the section's size. (MPI-5.0 19.1.12, MPI_SUBARRAYS_SUPPORTED)
!
! np: 1 2
! timeout: 60
! bindings: f08
! with: check.F90
program sections
  use check
  use, intrinsic :: iso_c_binding
  use mpi_f08
  implicit none
  integer, parameter :: most = 2000
  integer :: i, n, me, next, ranks
  integer, asynchronous :: memory(most), a1(30), a2(9, 8), a3(6, 5, 7), a4(4, 5, 3, 6)
  integer, allocatable :: flat(:), got(:), want(:)
  type(MPI_Win) :: win
  integer(kind=MPI_ADDRESS_KIND) :: bytes
  integer(kind=MPI_ADDRESS_KIND), parameter :: none = 0

  call MPI_Init()
  call check_begin()
  call MPI_Comm_rank(MPI_COMM_WORLD, me)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  next = mod(me + 1, ranks)
  call expect(MPI_SUBARRAYS_SUPPORTED, 'MPI_SUBARRAYS_SUPPORTED')
  bytes = most * integer_bytes
  call MPI_Win_create(memory, bytes, integer_bytes, MPI_INFO_NULL, MPI_COMM_WORLD, win)
  call rank1()
  call rank2()
  call rank3()
  call rank4()
  call dummies(a2, 9)
  call pointers()
  call kinds()
  call particles()
  call in_place()
  call MPI_Win_free(win)
  call check_end()

contains

  subroutine fill()
    a1 = [(100 + i, i = 1, size(a1))]
    a2 = reshape([(200 + i, i = 1, size(a2))], shape(a2))
    a3 = reshape([(300 + i, i = 1, size(a3))], shape(a3))
    a4 = reshape([(1400 + i, i = 1, size(a4))], shape(a4))
  end subroutine

#define A a1
  subroutine rank1()
#define SECTION 1:30:3
#define NAME '1:30:3'
#include "section_case.inc"
#define SECTION 30:1:-1
#define NAME '30:1:-1'
#include "section_case.inc"
#define SECTION 29:2:-4
#define NAME '29:2:-4'
#include "section_case.inc"
#define SECTION 4:20
#define NAME '4:20'
#include "section_case.inc"
#define SECTION 7:7:5
#define NAME '7:7:5'
#include "section_case.inc"
#define SECTION 7:6:2
#define NAME '7:6:2 (empty)'
#include "section_case.inc"
  end subroutine

#undef A
#define A a2
  subroutine rank2()
#define SECTION :, 1:8:2
#define NAME ':,1:8:2'
#include "section_case.inc"
#define SECTION 3, :
#define NAME '3,:'
#include "section_case.inc"
#define SECTION 2:8, :
#define NAME '2:8,:'
#include "section_case.inc"
#define SECTION 1:9:4, 2:8:3
#define NAME '1:9:4,2:8:3'
#include "section_case.inc"
#define SECTION 9:1:-2, 8:1:-1
#define NAME '9:1:-2,8:1:-1'
#include "section_case.inc"
#define SECTION 9:1:-1, 3:7
#define NAME '9:1:-1,3:7'
#include "section_case.inc"
#define SECTION :, 8:1:-3
#define NAME ':,8:1:-3'
#include "section_case.inc"
#define SECTION 1:9:2, 5:5
#define NAME '1:9:2,5:5'
#include "section_case.inc"
  end subroutine

#undef A
#define A a3
  subroutine rank3()
#define SECTION :, 2:5:3, :
#define NAME ':,2:5:3,:'
#include "section_case.inc"
#define SECTION 1:6:5, :, 7:1:-2
#define NAME '1:6:5,:,7:1:-2'
#include "section_case.inc"
#define SECTION 6:1:-3, 5:1:-2, 7:2:-4
#define NAME '6:1:-3,5:1:-2,7:2:-4'
#include "section_case.inc"
#define SECTION :, :, 2:6:2
#define NAME ':,:,2:6:2'
#include "section_case.inc"
#define SECTION 2, :, :
#define NAME '2,:,:'
#include "section_case.inc"
#define SECTION 2, 4, :
#define NAME '2,4,:'
#include "section_case.inc"
#define SECTION :, :, 7:1:-1
#define NAME ':,:,7:1:-1'
#include "section_case.inc"
  end subroutine

#undef A
#define A a4
  subroutine rank4()
#define SECTION 1:4:3, 5:1:-2, 1:3:2, 6:1:-5
#define NAME '1:4:3,5:1:-2,1:3:2,6:1:-5'
#include "section_case.inc"
#define SECTION 4:1:-1, 2:5, :, 1:6:2
#define NAME '4:1:-1,2:5,:,1:6:2'
#include "section_case.inc"
#define SECTION :, 1:5:2, :, 2:6:4
#define NAME ':,1:5:2,:,2:6:4'
#include "section_case.inc"
#define SECTION 2:3, :, 2, 6:3:-1
#define NAME '2:3,:,2,6:3:-1'
#include "section_case.inc"
#define SECTION :, :, :, 1:5:4
#define NAME ':,:,:,1:5:4'
#include "section_case.inc"
  end subroutine

  ! from_section tests calls that read the section `buf`. The array `flat` has the first n values of the section.
  subroutine from_section(buf, n, flat, name)
    integer, intent(in), asynchronous :: buf(..)
    integer, intent(in) :: n, flat(:)
    character(len=*), intent(in) :: name
    integer, asynchronous :: received(most), old(most), result(most)
    type(MPI_Request) :: request
    integer :: count, part, packed
    character, allocatable :: bytes(:)
    do part = 0, 4
      count = n * part / 4
      if (part == 1) count = min(n, 1)
      if (part == 3) count = max(n - 1, 0)
      memory = -1
      call MPI_Win_fence(0, win)
      call MPI_Put(buf, count, MPI_INTEGER, next, none, count, MPI_INTEGER, win)
      call MPI_Win_fence(0, win)
      call expect(memory(1:count + 1), [flat(1:count), -1], 'put of ' // name)
      call MPI_Win_fence(0, win)
    end do
    call MPI_Accumulate(buf, n, MPI_INTEGER, next, none, n, MPI_INTEGER, MPI_SUM, win)
    call MPI_Win_fence(0, win)
    call expect(memory(1:n + 1), [2 * flat, -1], 'accumulate of ' // name)
    call MPI_Win_fence(0, win)
    result = -7
    call MPI_Get_accumulate(buf, n, MPI_INTEGER, result, n, MPI_INTEGER, next, none, n, MPI_INTEGER, MPI_SUM, win)
    call MPI_Win_fence(0, win)
    call expect(memory(1:n + 1), [3 * flat, -1], 'get_accumulate of ' // name)
    call MPI_Win_fence(0, win)
    call expect(result(1:n + 1), [2 * flat, -7], 'get_accumulate of ' // name // ': result')
    call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win)
    call MPI_Rput(buf, n, MPI_INTEGER, next, none, n, MPI_INTEGER, win, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_Raccumulate(buf, n, MPI_INTEGER, next, none, n, MPI_INTEGER, MPI_SUM, win, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    old = -7
    call MPI_Rget_accumulate(buf, n, MPI_INTEGER, old, n, MPI_INTEGER, next, none, n, MPI_INTEGER, MPI_SUM, win, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_Win_unlock(next, win)
    call expect(old(1:n + 1), [2 * flat, -7], 'rget_accumulate of ' // name // ': result')
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Win_fence(0, win)
    call expect(memory(1:n + 1), [3 * flat, -1], 'rput, raccumulate, rget_accumulate of ' // name)
    call MPI_Win_fence(0, win)
    ! Messages.
    received = -1
    call MPI_Isend(buf, n, MPI_INTEGER, next, 1, MPI_COMM_WORLD, request)
    call MPI_Recv(received, n, MPI_INTEGER, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call expect(received(1:n + 1), [flat, -1], 'isend of ' // name)
    received = -1
    call MPI_Sendrecv(buf, n, MPI_INTEGER, next, 2, received, most, MPI_INTEGER, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE)
    call expect(received(1:n + 1), [flat, -1], 'sendrecv of ' // name)
    ! Packing.
    call MPI_Pack_size(n, MPI_INTEGER, MPI_COMM_WORLD, packed)
    allocate (bytes(max(packed, 1)))
    packed = 0
    call MPI_Pack(buf, n, MPI_INTEGER, bytes, size(bytes), packed, MPI_COMM_WORLD)
    received = -1
    count = 0
    call MPI_Unpack(bytes, packed, count, received, n, MPI_INTEGER, MPI_COMM_WORLD)
    call expect(received(1:n + 1), [flat, -1], 'pack of ' // name)
  end subroutine

  ! to_section tests calls that write the section `buf`, always with the values 5001, 5002 and so on. The caller checks
  ! the elements outside of the section.
  subroutine to_section(buf, n, name)
    integer, intent(inout), asynchronous :: buf(..)
    integer, intent(in) :: n
    character(len=*), intent(in) :: name
    integer, asynchronous :: values(most), zeros(most)
    type(MPI_Request) :: request
    type(MPI_Status) :: status
    integer :: count
    values = [(5000 + i, i = 1, most)]
    zeros = 0
    memory = values
    call MPI_Win_fence(0, win)
    call MPI_Get(buf, n, MPI_INTEGER, next, none, n, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    call read_back(buf, values(1:n), 'get into ' // name)
    call scramble(buf, n)
    call MPI_Get_accumulate(zeros, n, MPI_INTEGER, buf, n, MPI_INTEGER, next, none, n, MPI_INTEGER, MPI_NO_OP, win)
    call MPI_Win_fence(0, win)
    call read_back(buf, values(1:n), 'get_accumulate into ' // name)
    call scramble(buf, n)
    call MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win)
    call MPI_Rget(buf, n, MPI_INTEGER, next, none, n, MPI_INTEGER, win, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_Win_unlock(next, win)
    call read_back(buf, values(1:n), 'rget into ' // name)
    call scramble(buf, n)
    call MPI_Irecv(buf, n, MPI_INTEGER, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, request)
    call MPI_Send(values, n, MPI_INTEGER, next, 3, MPI_COMM_WORLD)
    call MPI_Wait(request, status)
    call MPI_Get_count(status, MPI_INTEGER, count)
    call expect(count, n, 'irecv into ' // name // ': count')
    call read_back(buf, values(1:n), 'irecv into ' // name)
    call scramble(buf, n)
    if (me == 0) then
      call MPI_Bcast(values, n, MPI_INTEGER, 0, MPI_COMM_WORLD)
      call MPI_Unpack(values, integer_bytes * n, zeros(1), buf, n, MPI_INTEGER, MPI_COMM_SELF)
    else
      call MPI_Bcast(buf, n, MPI_INTEGER, 0, MPI_COMM_WORLD)
    end if
    call read_back(buf, values(1:n), 'bcast and unpack into ' // name)
    call MPI_Barrier(MPI_COMM_WORLD)
  end subroutine

  ! read_back sends a section in a message to this process and compares the received values.
  subroutine read_back(buf, values, what)
    integer, intent(in), asynchronous :: buf(..)
    integer, intent(in) :: values(:)
    character(len=*), intent(in) :: what
    integer :: back(most)
    back = -1
    associate (n => size(values))
      call MPI_Sendrecv(buf, n, MPI_INTEGER, 0, 0, back, n, MPI_INTEGER, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE)
      call expect(back(1:n + 1), [values, -1], what)
    end associate
  end subroutine

  ! scramble overwrites the first n elements of a section with other values.
  subroutine scramble(buf, n)
    integer, intent(inout), asynchronous :: buf(..)
    integer, intent(in) :: n
    integer :: nothing(most)
    nothing = -3
    call MPI_Sendrecv(nothing, n, MPI_INTEGER, 0, 0, buf, n, MPI_INTEGER, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE)
    call MPI_Win_fence(0, win)
  end subroutine

  ! Tests dummy arguments. Arrays of assumed size and of explicit shape are contiguous; their sections are not.
  subroutine dummies(x, m)
    integer, intent(in) :: m
    integer, intent(inout), asynchronous :: x(m, *)
    call fill()
    memory = -1
    call MPI_Win_fence(0, win)
    call MPI_Put(x, 10, MPI_INTEGER, next, none, 10, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    call expect(memory(1:11), [(200 + i, i = 1, 10), -1], 'put of an array of assumed size')
    call MPI_Win_fence(0, win)
    call MPI_Put(x(2, 1:3), 3, MPI_INTEGER, next, none, 3, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    call expect(memory(1:3), [202, 211, 220], 'put of a section of one')
    call MPI_Win_fence(0, win)
    call MPI_Put(x(3, 1), 4, MPI_INTEGER, next, none, 4, MPI_INTEGER, win) ! the buffer begins at this element
    call MPI_Win_fence(0, win)
    call expect(memory(1:4), [203, 204, 205, 206], 'put of an element')
    call MPI_Win_fence(0, win)
  end subroutine

  ! Tests sections of pointers, of allocatable arrays, and of components of derived types.
  subroutine pointers()
    type pair
      integer :: i
      real(C_DOUBLE) :: x
    end type
    type(pair), allocatable, target, asynchronous :: pairs(:, :)
    integer, pointer, asynchronous :: p(:)
    integer :: k
    allocate (pairs(4, 5))
    do k = 1, 5
      pairs(:, k)%i = [(10 * k + i, i = 1, 4)]
      pairs(:, k)%x = 0.5
    end do
    memory = -1
    call MPI_Win_fence(0, win)
    call MPI_Put(pairs%i, 20, MPI_INTEGER, next, none, 20, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    call expect(memory(1:21), [reshape(pairs%i, [20]), -1], 'put of a component')
    call MPI_Win_fence(0, win)
    call MPI_Put(pairs(4:1:-2, 1:5:2)%i, 6, MPI_INTEGER, next, none, 6, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    call expect(memory(1:6), [14, 12, 34, 32, 54, 52], 'put of a component of a section')
    call MPI_Win_fence(0, win)
    p => pairs(2, :)%i
    call MPI_Put(p, 5, MPI_INTEGER, next, none, 5, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    call expect(memory(1:5), [12, 22, 32, 42, 52], 'put of a pointer')
    call MPI_Win_fence(0, win)
    p = 0
    memory = [(i, i = 1, most)]
    call MPI_Win_fence(0, win)
    call MPI_Get(p, 5, MPI_INTEGER, next, none, 5, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    call expect(pairs(2, :)%i, [1, 2, 3, 4, 5], 'get into a pointer')
    call expect(all(pairs%x == 0.5d0), 'get leaves the other component alone')
  end subroutine

  ! Tests sections of an array whose derived type has a gap at its end, with an MPI datatype of the same extent. The
  ! array is large. If the section's datatype listed each basic element, the test would be slow. The subroutine also
  ! tests the real and imaginary parts of complex numbers.
  subroutine particles()
    type, bind(C) :: particle
      real(C_DOUBLE) :: x(3)
      integer(C_INT) :: id
    end type
    integer, parameter :: number = 20000
    type(particle), allocatable, asynchronous :: p(:), q(:)
    complex(C_DOUBLE_COMPLEX), asynchronous :: z(9)
    type(MPI_Datatype) :: parts, whole
    type(MPI_Win) :: v
    integer(kind=MPI_ADDRESS_KIND) :: at(2), start, room
    integer :: k
    allocate (p(number), q(number))
    do k = 1, number
      p(k) = particle([k, k, k] * 1d0, int(k, C_INT))
      q(k) = particle([0d0, 0d0, 0d0], -1)
    end do
    call MPI_Get_address(p(1), start)
    call MPI_Get_address(p(1)%x, at(1))
    call MPI_Get_address(p(1)%id, at(2))
    call MPI_Type_create_struct(2, [3, 1], at - start, [MPI_DOUBLE_PRECISION, MPI_INTEGER4], parts)
    call MPI_Type_create_resized(parts, 0_MPI_ADDRESS_KIND, int(storage_size(p) / 8, MPI_ADDRESS_KIND), whole)
    call MPI_Type_commit(whole)
    room = number * (storage_size(q) / 8)
    call MPI_Win_create(q, room, storage_size(q) / 8, MPI_INFO_NULL, MPI_COMM_SELF, v)
    call MPI_Win_fence(0, v)
    call MPI_Put(p(number:2:-2), number / 2, whole, 0, none, number / 2, whole, v)
    call MPI_Win_fence(0, v)
    call expect(int(q(1:number / 2)%id), int(p(number:2:-2)%id), 'every second structure, backwards')
    call expect(all(q(1:number / 2)%x(3) == p(number:2:-2)%x(3)), 'their numbers')
    call expect(all(q(number / 2 + 1:)%id == -1), 'what is behind them')
    call MPI_Get(p(2:number:2), 5, whole, 0, none, 5, whole, v)
    call MPI_Win_fence(0, v)
    call expect(int(p(1:12)%id), [1, number, 3, number - 2, 5, number - 4, 7, number - 6, 9, number - 8, 11, 12], 'get of five')
    z = [(cmplx(k, -k, C_DOUBLE_COMPLEX), k = 1, 9)]
    call MPI_Put(z(9:1:-4)%re, 3, MPI_DOUBLE_PRECISION, 0, none, 3, MPI_DOUBLE_PRECISION, v)
    call MPI_Win_fence(0, v)
    call expect(all(q(1)%x == [9, 5, 1]), 'real parts')
    call MPI_Get(z(2:4)%im, 3, MPI_DOUBLE_PRECISION, 0, none, 3, MPI_DOUBLE_PRECISION, v)
    call MPI_Win_fence(0, v)
    call expect(all(aimag(z(1:5)) == [-1, 9, 5, 1, -5]) .and. all(z%re == [(k, k = 1, 9)]), 'imaginary parts')
    call MPI_Win_free(v)
    call MPI_Type_free(parts)
    call MPI_Type_free(whole)
  end subroutine

  ! Checks that MPI accesses the section itself, not a copy: a persistent send sends data that the program has written
  ! after MPI_Send_init, and data that arrives after the call has returned is stored in the section. MPI_Get_address of
  ! a section must return the address of its first element.
  subroutine in_place()
    integer, asynchronous :: a(6, 6), b(6, 6)
    type(MPI_Request) :: send, receive
    integer(kind=MPI_ADDRESS_KIND) :: first, element
    integer :: k
    call MPI_Send_init(a(1:6:2, 6:1:-1), 18, MPI_INTEGER, next, 5, MPI_COMM_WORLD, send)
    call MPI_Recv_init(b(6:1:-2, 1:6), 18, MPI_INTEGER, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, receive)
    do k = 1, 3
      a = k
      a(1, 6) = 100 * k
      b = -k
      call MPI_Start(receive)
      call MPI_Start(send)
      call MPI_Wait(send, MPI_STATUS_IGNORE)
      call MPI_Wait(receive, MPI_STATUS_IGNORE)
      call expect(b(6, 1), 100 * k, 'persistent: the first element')
      call expect(count(b == k), 17, 'persistent: the others')
      call expect(count(b == -k), 18, 'persistent: what is no part of the section')
    end do
    call MPI_Request_free(send)
    call MPI_Request_free(receive)
    ! Between the call and the arrival of the message, the program writes elements outside of the section. These
    ! elements keep their values.
    b = 0
    call MPI_Irecv(b(2, :), 6, MPI_INTEGER, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, receive)
    b(1, :) = 1
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Isend(a(:, 2), 6, MPI_INTEGER, next, 6, MPI_COMM_WORLD, send)
    call MPI_Wait(receive, MPI_STATUS_IGNORE)
    call MPI_Wait(send, MPI_STATUS_IGNORE)
    call expect(b(2, :), [3, 3, 3, 3, 3, 3], 'irecv into a row')
    call expect(b(1, :), [1, 1, 1, 1, 1, 1], 'the row beside it, written meanwhile')
    call MPI_Get_address(b(5:1:-2, 4:2:-1), first)
    call MPI_Get_address(b(5, 4), element)
    call expect(first == element, 'the address of a section')
  end subroutine

  ! Tests array elements of different sizes, and datatypes that are larger or smaller than an array element.
  subroutine kinds()
    complex(C_DOUBLE_COMPLEX), asynchronous :: z(6)
    real(C_DOUBLE), asynchronous :: w(8), r(4, 6)
    integer(C_INT16_T), asynchronous :: s(9), s2(5)
    character(len=3), asynchronous :: c(5)
    character(len=9), asynchronous :: nine
    integer, asynchronous :: pairs(2, 6), back(12)
    type(MPI_Win) :: v
    type(MPI_Datatype) :: two
    z = [(cmplx(i, -i, C_DOUBLE_COMPLEX), i = 1, 6)]
    s = [(int(i, C_INT16_T), i = 1, 9)]
    c = ['abc', 'def', 'ghi', 'jkl', 'mno']
    nine = ''
    w = 0
    r = 0
    s2 = 0
    back = 0
    bytes = 8 * 8
    call MPI_Win_create(w, bytes, 1, MPI_INFO_NULL, MPI_COMM_SELF, v)
    call MPI_Win_fence(0, v)
    call MPI_Put(z(6:1:-2), 5, MPI_DOUBLE_PRECISION, 0, none, 5, MPI_DOUBLE_PRECISION, v) ! two and a half elements of z
    call MPI_Win_fence(0, v)
    call expect(all(w == [6d0, -6d0, 4d0, -4d0, 2d0, 0d0, 0d0, 0d0]), 'doubles out of complex elements')
    call MPI_Get(r(1:4:3, 2:6:2), 6, MPI_DOUBLE_PRECISION, 0, none, 6, MPI_DOUBLE_PRECISION, v)
    call MPI_Win_fence(0, v)
    call expect(all(r(1:4:3, 2:6:2) == reshape([6d0, -6d0, 4d0, -4d0, 2d0, 0d0], [2, 3])), 'get of doubles')
    call expect(all(r(2:3, :) == 0) .and. all(r(:, 1:5:2) == 0), 'get leaves the rest alone')
    call MPI_Put(s(1:9:2), 5, MPI_INTEGER2, 0, none, 5, MPI_INTEGER2, v)
    call MPI_Win_fence(0, v)
    call MPI_Get(s2(5:1:-1), 5, MPI_INTEGER2, 0, none, 5, MPI_INTEGER2, v)
    call MPI_Win_fence(0, v)
    call expect(all(s2 == [9, 7, 5, 3, 1]), 'integers of two bytes')
    call MPI_Put(c(5:1:-2), 9, MPI_CHARACTER, 0, none, 9, MPI_CHARACTER, v)
    call MPI_Win_fence(0, v)
    call MPI_Get(nine, 9, MPI_CHARACTER, 0, none, 9, MPI_CHARACTER, v)
    call MPI_Win_fence(0, v)
    call expect(nine, 'mnoghiabc', 'strings')
    call MPI_Put(c(:)(2:2), 5, MPI_CHARACTER, 0, none, 5, MPI_CHARACTER, v)
    call MPI_Win_fence(0, v)
    call MPI_Get(nine, 5, MPI_CHARACTER, 0, none, 5, MPI_CHARACTER, v)
    call MPI_Win_fence(0, v)
    call expect(nine(1:5), 'behkn', 'substrings')
    ! A datatype of two array elements. The two elements are contiguous in the array, but consecutive pairs are not.
    pairs = reshape([(i, i = 1, 12)], [2, 6])
    call MPI_Type_contiguous(2, MPI_INTEGER, two)
    call MPI_Type_commit(two)
    call MPI_Put(pairs(:, 6:1:-2), 3, two, 0, none, 6, MPI_INTEGER, v)
    call MPI_Win_fence(0, v)
    call MPI_Get(back, 6, MPI_INTEGER, 0, none, 6, MPI_INTEGER, v)
    call MPI_Win_fence(0, v)
    call expect(back(1:6), [11, 12, 7, 8, 3, 4], 'two columns at a time')
    ! A datatype of three array elements, of which only two are contiguous. Its second element begins inside a pair.
    call MPI_Type_free(two)
    call MPI_Type_contiguous(3, MPI_INTEGER, two)
    call MPI_Type_commit(two)
    call MPI_Put(pairs(:, 6:1:-2), 2, two, 0, none, 6, MPI_INTEGER, v)
    call MPI_Win_fence(0, v)
    back = 0
    call MPI_Get(back, 6, MPI_INTEGER, 0, none, 6, MPI_INTEGER, v)
    call MPI_Win_fence(0, v)
    call expect(back(1:6), [11, 12, 7, 8, 3, 4], 'three elements at a time')
    call MPI_Type_free(two)
    ! A vector type selects every second element of the section, which is every fourth element of the array.
    call MPI_Type_vector(3, 1, 2, MPI_INTEGER, two)
    call MPI_Type_commit(two)
    call MPI_Put(pairs(2, :), 1, two, 0, none, 3, MPI_INTEGER, v)
    call MPI_Win_fence(0, v)
    back = 0
    call MPI_Get(back, 3, MPI_INTEGER, 0, none, 3, MPI_INTEGER, v)
    call MPI_Win_fence(0, v)
    call expect(back(1:4), [2, 6, 10, 0], 'a vector of a section')
    call MPI_Type_free(two)
    call MPI_Win_free(v)
  end subroutine
end program
