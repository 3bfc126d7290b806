C     A wave on a string, written as an old program would be: fixed
C     form, mpif.h, arrays in a common block.
C
C         gompifort -O2 stencil_f77.f -o stencil_f77
C         gompirun -n 4 ./stencil_f77
C
C     Each process has a part of the string and, on either side, one
C     point of a neighbour, which the neighbour puts there before every
C     step.
C
C np: 1 2 5
C timeout: 60
C bindings: mpif
      PROGRAM STENCIL
      IMPLICIT NONE
      INCLUDE 'mpif.h'
      INTEGER MOST, NALL, NSTEPS
      PARAMETER (MOST=1000, NALL=1000, NSTEPS=500)
      DOUBLE PRECISION U, OLD, NEW
      COMMON /FIELD/ U(0:MOST+1), OLD(0:MOST+1), NEW(0:MOST+1)
      DOUBLE PRECISION S(0:NALL+1), SOLD(0:NALL+1), SNEW(0:NALL+1)
      DOUBLE PRECISION DIFF, WORST
      INTEGER ME, N, LEFT, RIGHT, NMINE, NLEFT, FIRST, I, K
      INTEGER WIN, IERROR
      INTEGER (KIND=MPI_ADDRESS_KIND) BYTES, DISP
      DOUBLE PRECISION PLUCK
      EXTERNAL PLUCK

      CALL MPI_INIT(IERROR)
      CALL MPI_COMM_RANK(MPI_COMM_WORLD, ME, IERROR)
      CALL MPI_COMM_SIZE(MPI_COMM_WORLD, N, IERROR)
      LEFT = ME - 1
      IF (ME .EQ. 0) LEFT = MPI_PROC_NULL
      RIGHT = ME + 1
      IF (ME .EQ. N - 1) RIGHT = MPI_PROC_NULL
      CALL PART(NALL, N, ME, FIRST, NMINE)
      CALL PART(NALL, N, ME - 1, I, NLEFT)
      DO 10 I = 0, NMINE + 1
        U(I) = PLUCK(FIRST + I - 1)
        OLD(I) = U(I)
   10 CONTINUE
      BYTES = 8*(MOST + 2)
      CALL MPI_WIN_CREATE(U, BYTES, 8, MPI_INFO_NULL, MPI_COMM_WORLD,
     &                    WIN, IERROR)
      CALL MPI_WIN_FENCE(MPI_MODE_NOPRECEDE, WIN, IERROR)

      DO 40 K = 1, NSTEPS
C       The first point is put after the left neighbour's last point.
        DISP = NLEFT + 1
        CALL MPI_PUT(U(1), 1, MPI_DOUBLE_PRECISION, LEFT, DISP,
     &               1, MPI_DOUBLE_PRECISION, WIN, IERROR)
        DISP = 0
        CALL MPI_PUT(U(NMINE), 1, MPI_DOUBLE_PRECISION, RIGHT, DISP,
     &               1, MPI_DOUBLE_PRECISION, WIN, IERROR)
        CALL MPI_WIN_FENCE(0, WIN, IERROR)
        DO 20 I = 1, NMINE
          NEW(I) = 2*U(I) - OLD(I)
     &           + 0.2D0*(U(I-1) - 2*U(I) + U(I+1))
   20   CONTINUE
        DO 30 I = 1, NMINE
          OLD(I) = U(I)
          U(I) = NEW(I)
   30   CONTINUE
        CALL MPI_WIN_FENCE(0, WIN, IERROR)
   40 CONTINUE

C     The same computation on one process.
      DO 50 I = 0, NALL + 1
        S(I) = PLUCK(I)
        SOLD(I) = S(I)
   50 CONTINUE
      DO 80 K = 1, NSTEPS
        DO 60 I = 1, NALL
          SNEW(I) = 2*S(I) - SOLD(I)
     &            + 0.2D0*(S(I-1) - 2*S(I) + S(I+1))
   60   CONTINUE
        DO 70 I = 1, NALL
          SOLD(I) = S(I)
          S(I) = SNEW(I)
   70   CONTINUE
   80 CONTINUE
      DIFF = 0
      DO 90 I = 1, NMINE
        DIFF = MAX(DIFF, ABS(U(I) - S(FIRST + I - 1)))
   90 CONTINUE
      CALL MPI_ALLREDUCE(DIFF, WORST, 1, MPI_DOUBLE_PRECISION, MPI_MAX,
     &                   MPI_COMM_WORLD, IERROR)
      IF (ME .EQ. 0) THEN
        WRITE (*, '(A,I0,A,I0,A,I0,A)') 'stencil_f77: ', NALL,
     &        ' points, ', NSTEPS, ' steps, ', N, ' processes'
        WRITE (*, '(A,ES9.2)')
     &        'largest difference from the serial solution: ', WORST
      END IF
      CALL MPI_WIN_FREE(WIN, IERROR)
      CALL MPI_FINALIZE(IERROR)
C     Optimizers may round differently.
      IF (WORST .GT. 1D-12) STOP 1
      END

C     The initial string: fixed at both ends, plucked in the middle.
      DOUBLE PRECISION FUNCTION PLUCK(I)
      IMPLICIT NONE
      INTEGER I
      PLUCK = 0
      IF (I .GE. 1 .AND. I .LE. 1000)
     &  PLUCK = EXP(-((I - 400)/30.0D0)**2)
      END

C     Returns the start of part I of P, counted from 1, and its size.
      SUBROUTINE PART(NALL, P, I, FIRST, COUNT)
      IMPLICIT NONE
      INTEGER NALL, P, I, FIRST, COUNT
      COUNT = NALL/P
      IF (I .LT. MOD(NALL, P)) COUNT = COUNT + 1
      FIRST = I*(NALL/P) + MIN(I, MOD(NALL, P)) + 1
      END
