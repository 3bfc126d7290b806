/* What went wrong: if several threads called MPI_Improbe and MPI_Mrecv at the same time, a thread could receive a
 * message of another size than its probe had found.
 * Must hold: several threads call matched probe and receive, each with its own datatypes. Each message is received once
 * and completely.
 * MPI-5.0 3.8.2
 * np: 2 4
 * nodes: 2
 * ref: mpich
 * timeout: 60
 */
#include "../check.h"

#include <pthread.h>

enum { TH = 3, PER = 400 };
static int to_, from_;
static long sums[TH], counts[TH];
static volatile int left = TH * PER;
static void *sender(void *a) {
	int id = (int)(long)a;
	unsigned seed = check_rank * 10 + id;
	static __thread int d[6000];
	for (int i = 0; i < PER; i++) {
		int n = rand_r(&seed) % 10 ? 1 + rand_r(&seed) % 40 : 5000;
		for (int k = 0; k < n; k++)
			d[k] = n * 3 + k;
		MPI_Send(d, n, MPI_INT, to_, 1 + i % 3, MPI_COMM_WORLD);
	}
	return NULL;
}
static void *receiver(void *a) {
	int id = (int)(long)a;
	static __thread int d[12000];
	MPI_Message m;
	MPI_Status st;
	int flag, n;
	MPI_Datatype v = MPI_DATATYPE_NULL;
	while (__atomic_load_n(&left, __ATOMIC_SEQ_CST) > 0) {
		MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &m, &st);
		if (!flag)
			continue;
		__atomic_fetch_sub(&left, 1, __ATOMIC_SEQ_CST);
		MPI_Get_count(&st, MPI_INT, &n);
		if (id == 0) {
			MPI_Mrecv(d, n, MPI_INT, &m, &st);
		} else if (id == 1) {
			MPI_Request r;
			MPI_Imrecv(d, n, MPI_INT, &m, &r);
			MPI_Wait(&r, &st);
		} else {
			MPI_Type_vector(n, 1, 2, MPI_INT, &v);
			MPI_Type_commit(&v);
			MPI_Mrecv(d, 1, v, &m, &st);
			MPI_Type_free(&v);
			for (int k = 0; k < n; k++)
				d[k] = d[2 * k];
		}
		int k2;
		MPI_Get_count(&st, MPI_INT, &k2);
		if (k2 != n || m != MPI_MESSAGE_NULL)
			__atomic_fetch_add(&check_errors, 1, __ATOMIC_SEQ_CST);
		for (int k = 0; k < n; k++)
			if (d[k] != n * 3 + k) {
				__atomic_fetch_add(&check_errors, 1, __ATOMIC_SEQ_CST);
				break;
			}
		counts[id]++;
		sums[id] += n;
	}
	return NULL;
}
int main(int argc, char **argv) {
	check_begin_threads(&argc, &argv);
	to_ = (check_rank + 1) % check_size;
	from_ = (check_rank + check_size - 1) % check_size;
	pthread_t s[TH], r[TH];
	for (int i = 0; i < TH; i++) {
		pthread_create(&r[i], NULL, receiver, (void *)(long)i);
		pthread_create(&s[i], NULL, sender, (void *)(long)i);
	}
	for (int i = 0; i < TH; i++) {
		pthread_join(s[i], NULL);
		pthread_join(r[i], NULL);
	}
	CHECK(counts[0] + counts[1] + counts[2] == TH * PER, "messages");
	MPI_Message m;
	MPI_Status st;
	int n;
	MPI_Mprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &m, &st);
	CHECK(m == MPI_MESSAGE_NO_PROC, "no proc");
	MPI_Mrecv(NULL, 0, MPI_INT, &m, &st);
	MPI_Get_count(&st, MPI_INT, &n);
	CHECK(m == MPI_MESSAGE_NULL && st.MPI_SOURCE == MPI_PROC_NULL && n == 0 && st.MPI_TAG == MPI_ANY_TAG,
	      "after no proc");
	return check_end();
}
