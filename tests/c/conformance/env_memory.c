/* Proves: MPI_Alloc_mem returns memory of any size, aligned for every type and writable to the last byte. Two
 *   allocations do not overlap. MPI_Free_mem frees it. MPI_Get_address, MPI_Aint_add and MPI_Aint_diff agree with
 *   pointers. MPI-5.0 9.2, 5.1.5
 * np: 1 2
 * ref: mpich
 * timeout: 30
 */
#include "../check.h"

enum { MANY = 60 };

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	static const MPI_Aint sizes[] = {1, 7, 8, 64, 100, 4095, 4096, 4097, 100000, 3000000};
	unsigned char *mem[MANY];
	for (int time = 0; time < 3; time++) {
		for (int i = 0; i < MANY; i++) {
			MPI_Aint size = sizes[i % 10];
			CHECK_OK(MPI_Alloc_mem(size, MPI_INFO_NULL, &mem[i]));
			CHECK(mem[i] && (uintptr_t)mem[i] % _Alignof(max_align_t) == 0, "%d bytes lie at %p", (int)size,
			      (void *)mem[i]);
			memset(mem[i], i + 1, size);
		}
		for (int k = 0; k < MANY; k++) {
			int i = k * 7 % MANY;
			for (MPI_Aint b = 0; b < sizes[i % 10]; b++)
				if (mem[i][b] != i + 1) {
					CHECK(0, "byte %d of allocation %d is %d", (int)b, i, mem[i][b]);
					break;
				}
			CHECK_OK(MPI_Free_mem(mem[i]));
		}
	}
	int array[10];
	MPI_Aint base, third;
	CHECK_OK(MPI_Get_address(array, &base));
	CHECK_OK(MPI_Get_address(array + 3, &third));
	CHECK(MPI_Aint_diff(third, base) == 3 * sizeof(int), "three ints are %d bytes",
	      (int)MPI_Aint_diff(third, base));
	CHECK(MPI_Aint_diff(base, third) == -3 * (MPI_Aint)sizeof(int), "backwards: %d bytes",
	      (int)MPI_Aint_diff(base, third));
	CHECK(MPI_Aint_add(base, 3 * sizeof(int)) == third, "the sum is not the address");
	CHECK(MPI_Aint_add(third, -3 * (MPI_Aint)sizeof(int)) == base, "the sum backwards is not the address");
	CHECK((void *)(base) == (void *)array, "the address is not the pointer");
	return check_end();
}
