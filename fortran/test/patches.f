! A fixed-form program that works like a library of global arrays. The columns of a matrix are distributed over the
! processes. Patches of the matrix are put, got and accumulated with vector types. A process gets its next task from a
! shared counter. INTEGERs have 4 or 8 bytes.
!
! np: 1 2 4
! timeout: 60
! bindings: mpif
      PROGRAM PATCHES
      IMPLICIT NONE
      INCLUDE 'mpif.h'
      INTEGER NDIM
      PARAMETER (NDIM=24)
      INTEGER MEM(NDIM,NDIM), COUNTER(1), BUF(3,NDIM)
      COMMON /ARRAY/ MEM, COUNTER, BUF
      INTEGER IERR, ME, NPROC, LEN, WIN, CWIN, TASK, I, J, BAD, ALL
      INTEGER(KIND=MPI_ADDRESS_KIND) NBYTES, AT
      CALL MPI_INIT(IERR)
      CALL MPI_COMM_RANK(MPI_COMM_WORLD, ME, IERR)
      CALL MPI_COMM_SIZE(MPI_COMM_WORLD, NPROC, IERR)
      CALL MPI_TYPE_SIZE(MPI_INTEGER, LEN, IERR)
      DO J = 1, NDIM
        DO I = 1, NDIM
          MEM(I,J) = 0
        END DO
      END DO
      COUNTER(1) = 0
      NBYTES = NDIM * NDIM * LEN
      CALL MPI_WIN_CREATE(MEM, NBYTES, LEN, MPI_INFO_NULL,
     &                    MPI_COMM_WORLD, WIN, IERR)
      NBYTES = LEN
      CALL MPI_WIN_CREATE(COUNTER, NBYTES, LEN, MPI_INFO_NULL,
     &                    MPI_COMM_WORLD, CWIN, IERR)
      CALL MPI_WIN_LOCK_ALL(0, WIN, IERR)
      CALL MPI_WIN_LOCK_ALL(0, CWIN, IERR)
      CALL MPI_BARRIER(MPI_COMM_WORLD, IERR)
! Task K handles rows K, K+1, K+2 of the matrix: it adds K to each.
  100 CONTINUE
        AT = 0
        CALL MPI_FETCH_AND_OP(3, TASK, MPI_INTEGER, 0, AT, MPI_SUM,
     &                        CWIN, IERR)
        CALL MPI_WIN_FLUSH(0, CWIN, IERR)
        IF (TASK .GE. NDIM) GOTO 200
        DO J = 1, NDIM
          DO I = 1, 3
            BUF(I,J) = TASK + 1
          END DO
        END DO
        CALL PATCH(TASK + 1, BUF, NDIM, NPROC, WIN)
      GOTO 100
  200 CONTINUE
      CALL MPI_WIN_FLUSH_ALL(WIN, IERR)
      CALL MPI_BARRIER(MPI_COMM_WORLD, IERR)
      CALL MPI_WIN_SYNC(WIN, IERR)
! Column J belongs to process MOD(J-1, NPROC).
      BAD = 0
      DO J = ME + 1, NDIM, NPROC
        DO I = 1, NDIM
          IF (MEM(I,J) .NE. 3 * ((I - 1) / 3) + 1) BAD = BAD + 1
        END DO
      END DO
      CALL MPI_ALLREDUCE(BAD, ALL, 1, MPI_INTEGER, MPI_SUM,
     &                   MPI_COMM_WORLD, IERR)
      CALL MPI_WIN_UNLOCK_ALL(WIN, IERR)
      CALL MPI_WIN_UNLOCK_ALL(CWIN, IERR)
      CALL MPI_WIN_FREE(WIN, IERR)
      CALL MPI_WIN_FREE(CWIN, IERR)
      IF (ME .EQ. 0 .AND. ALL .EQ. 0) PRINT *, 'PASS'
      CALL MPI_FINALIZE(IERR)
      IF (ALL .NE. 0) STOP 1
      END

! Adds BUF to three rows of the matrix, from ROW on, with one call for each process. The columns of a process are every
! NPROC-th column, in BUF and in the window.
      SUBROUTINE PATCH(ROW, BUF, NDIM, NPROC, WIN)
      IMPLICIT NONE
      INCLUDE 'mpif.h'
      INTEGER ROW, NDIM, NPROC, WIN, BUF(3,NDIM)
      INTEGER P, N, FROM, TO, IERR
      INTEGER(KIND=MPI_ADDRESS_KIND) AT
      DO P = 0, MIN(NPROC, NDIM) - 1
        N = (NDIM - P + NPROC - 1) / NPROC
        CALL MPI_TYPE_VECTOR(N, 3, 3 * NPROC, MPI_INTEGER, FROM, IERR)
        CALL MPI_TYPE_VECTOR(N, 3, NDIM * NPROC, MPI_INTEGER, TO, IERR)
        CALL MPI_TYPE_COMMIT(FROM, IERR)
        CALL MPI_TYPE_COMMIT(TO, IERR)
        AT = P * NDIM + ROW - 1
        CALL MPI_ACCUMULATE(BUF(1,P+1), 1, FROM, P, AT, 1, TO, MPI_SUM,
     &                      WIN, IERR)
        CALL MPI_WIN_FLUSH(P, WIN, IERR)
        CALL MPI_TYPE_FREE(FROM, IERR)
        CALL MPI_TYPE_FREE(TO, IERR)
      END DO
      END
