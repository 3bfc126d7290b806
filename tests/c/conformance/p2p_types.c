/* Proves: every predefined datatype can be sent and received, blocking and nonblocking, with the right size, for 0,
 *   1 and 300 elements. Bytes do not change. MPI_Get_count counts elements. A message sent with one type and
 *   received as MPI_BYTE has the same bytes. MPI-5.0 3.2, 3.3
 * np: 1 2 4
 * ref: mpich
 * nodes: 2
 * timeout: 30
 */
#include "../types.h"

enum { MOST = 300 };

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size, count, size;
	static char out[MOST * 32], in[MOST * 32 + 64];
	static const int counts[] = {0, 1, 300};
	for (int t = 0; t < types_count(); t++) {
		MPI_Datatype type = types[t].handle;
		MPI_Type_size(type, &size);
		CHECK(types[t].class == CLASS_PAIR || size == (int)types[t].size, "%s has size %d, not %d",
		      types[t].name, size, (int)types[t].size);
		for (int c = 0; c < 3; c++) {
			MPI_Request request;
			MPI_Status status;
			int bytes = counts[c] * (int)types[t].size;
			uint64_t seed = t * 100 + left, mine = t * 100 + check_rank;
			memset(in, 0x77, sizeof in);
			memset(out, 0, sizeof out);
			for (int i = 0; i < counts[c]; i++)
				types[t].set(out + i * types[t].size, check_random(&mine));
			MPI_Isend(out, counts[c], type, right, t, MPI_COMM_WORLD, &request);
			MPI_Recv(in, MOST, type, left, t, MPI_COMM_WORLD, &status);
			MPI_Wait(&request, MPI_STATUS_IGNORE);
			MPI_Get_count(&status, type, &count);
			CHECK(count == counts[c], "%s: received %d, not %d", types[t].name, count, counts[c]);
			CHECK(status.MPI_SOURCE == left && status.MPI_TAG == t, "%s: from %d, tag %d", types[t].name,
			      status.MPI_SOURCE, status.MPI_TAG);
			char want[32] __attribute__((aligned(16)));
			for (int i = 0; i < counts[c]; i++) {
				memset(want, 0, sizeof want);
				types[t].set(want, check_random(&seed));
				CHECK(types[t].equal(in + i * types[t].size, want), "%s: element %d is %s, not %s",
				      types[t].name, i, types_show(types + t, in + i * types[t].size),
				      types_show(types + t, want));
			}
			for (int i = bytes; i < bytes + 64; i++)
				CHECK(in[i] == 0x77, "%s: byte %d behind the message was written", types[t].name,
				      i - bytes);
			if (types[t].class == CLASS_PAIR)
				continue; /* pair types may have gaps, which are not sent */
			MPI_Irecv(in, sizeof in, MPI_BYTE, left, t, MPI_COMM_WORLD, &request);
			MPI_Send(out, counts[c], type, right, t, MPI_COMM_WORLD);
			MPI_Wait(&request, &status);
			MPI_Get_count(&status, MPI_BYTE, &count);
			CHECK(count == bytes, "%s as bytes: %d, not %d", types[t].name, count, bytes);
		}
	}
	return check_end();
}
