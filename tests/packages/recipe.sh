# Functions of docker.sh and apptainer.sh, which run a recipe in a bare root. The root takes the place of the image of
# Go and of Debian. Its module cache and proxies are those of scripts/fresh.sh.

fail() { echo "FAILED: $*" >&2; exit 1; }
# A program that is compiled and run with the result of a recipe.
try_program() {
	cat >/tmp/ring.c <<'EOF'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("rank %d\n", rank);
    MPI_Finalize();
}
EOF
	gompicc /tmp/ring.c -o /tmp/ring
	[ "$(gompirun -n 2 /tmp/ring | sort | tr '\n' ' ')" = 'rank 0 rank 1 ' ] || fail 'the program does not run'
	[ "$(gompi-info --version)" = "gompirma $(cat core/version/VERSION)" ] || fail 'gompi-info reports another version'
}
