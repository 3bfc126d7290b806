/* Proves: MPI_Bcast delivers the root's data from every root, for 0 elements to 2 MB. Odd ranks use a vector type, even
 *   ranks a contiguous one. Covers every predefined type. The root's buffer does not change. MPI-5.0 6.4
 * np: 1 2 5
 * ref: mpich
 * nodes: 2
 * timeout: 60
 */
#include "../types.h"

enum { MOST = 500000 };

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	static const int counts[] = {0, 1, 2, 100, 3000, 70000, MOST};
	int *data = malloc(2 * MOST * sizeof(int));
	for (int c = 0; c < 7; c++)
		for (int root = 0; root < check_size; root++) {
			int count = counts[c], step = 1 + count / 2000;
			for (int i = 0; i <= count; i++)
				data[i] = check_rank == root && i < count ? root * 1000 + i : -1;
			MPI_Bcast(data, count, MPI_INT, root, MPI_COMM_WORLD);
			for (int i = 0; i < count; i += step)
				CHECK(data[i] == root * 1000 + i, "%d elements from %d: [%d] is %d", count, root, i,
				      data[i]);
			CHECK(data[count] == -1, "%d elements from %d: one more was written", count, root);
			/* odd ranks receive into elements 0, 2, 4, ... */
			MPI_Datatype vector;
			MPI_Type_vector(count, 1, 2, MPI_INT, &vector);
			MPI_Type_commit(&vector);
			int spread = check_rank % 2 ? 2 : 1;
			for (int i = 0; i < spread * count; i++)
				data[i] = check_rank == root && i % spread == 0 ? root * 7 + i / spread : -1;
			if (spread == 2)
				MPI_Bcast(data, 1, vector, root, MPI_COMM_WORLD);
			else
				MPI_Bcast(data, count, MPI_INT, root, MPI_COMM_WORLD);
			for (int i = 0; i < spread * count; i += i < 100 ? 1 : step)
				CHECK(data[i] == (i % spread ? -1 : root * 7 + i / spread),
				      "vector, %d elements from %d: [%d] is %d", count, root, i, data[i]);
			MPI_Type_free(&vector);
		}
	free(data);
	char buffer[64] __attribute__((aligned(16))), want[64] __attribute__((aligned(16)));
	for (int t = 0; t < types_count(); t++) {
		const struct type *type = types + t;
		uint64_t seed = t, other = t + 1000 + check_rank;
		int root = t % check_size;
		memset(want, 0, sizeof want);
		memset(buffer, 0, sizeof buffer);
		for (int i = 0; i < 2; i++) {
			type->set(want + i * type->size, check_random(&seed));
			type->set(buffer + i * type->size, check_random(&other));
		}
		if (check_rank == root)
			memcpy(buffer, want, sizeof want);
		MPI_Bcast(buffer, 2, type->handle, root, MPI_COMM_WORLD);
		for (int i = 0; i < 2; i++)
			CHECK(type->equal(buffer + i * type->size, want + i * type->size), "%s: %s, not %s", type->name,
			      types_show(type, buffer + i * type->size), types_show(type, want + i * type->size));
	}
	return check_end();
}
