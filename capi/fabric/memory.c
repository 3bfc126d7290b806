// Registration of memory: memory that peers read and write, and local memory that the provider sends from or receives
// into.
#include <rdma/fi_errno.h>
#include <stdlib.h>

#include "base/abi.h"
#include "base/random.h"
#include "fabric/net.h"

// A registration of memory that peers access, in a hash table by key.
struct registration {
	struct registration *next;
	uint64_t key;
	struct fid_mr *mr;
};
enum { BUCKETS = 256 };
static struct registration *buckets[BUCKETS]; // under gompi_net.lock
static struct gompi_local_mr *local_mrs;      // under gompi_net.lock

static struct registration **bucket(uint64_t key) { return &buckets[(key ^ key >> 32 ^ key >> 8) % BUCKETS]; }

// Returns a random key of the provider's key size, which other processes cannot guess. Returns 0 on failure.
static uint64_t random_key(void) {
	uint64_t key = 0;
	if (!gompi_random(&key, sizeof key))
		return 0;
	size_t bytes = gompi_net.info->domain_attr->mr_key_size;
	return bytes >= sizeof key || bytes == 0 ? key : key & ((1ull << 8 * bytes) - 1);
}

static int register_with_key(void *at, uint64_t bytes, uint64_t access, uint64_t key, struct fid_mr **mr) {
	const int modes = gompi_net.info->domain_attr->mr_mode;
	int rc = fi_mr_reg(gompi_net.domain, at, bytes, access, 0, key, 0, mr, NULL);
	if (rc != 0 || (modes & FI_MR_ENDPOINT) == 0)
		return rc;
	rc = fi_mr_bind(*mr, &gompi_net.ep->fid, 0);
	if (rc == 0)
		rc = fi_mr_enable(*mr);
	if (rc != 0)
		fi_close(&(*mr)->fid);
	return rc;
}

// Registers memory. Chooses a random key unless the provider chooses keys, and retries if the key is in use. The caller
// holds gompi_net.lock.
static int register_memory(void *at, uint64_t bytes, uint64_t access, struct fid_mr **mr) {
	const int modes = gompi_net.info->domain_attr->mr_mode;
	int rc = -FI_ENOKEY;
	for (int tries = 0; rc == -FI_ENOKEY && tries < 8; tries++) {
		uint64_t key = 0;
		if ((modes & FI_MR_PROV_KEY) == 0 && (key = random_key()) == 0)
			continue;
		rc = register_with_key(at, bytes, access, key, mr);
	}
	return rc;
}

int gompi_local_mr_register(void *at, uint64_t bytes, uint64_t access, struct gompi_local_mr **l) {
	struct gompi_local_mr *new_mr = malloc(sizeof *new_mr);
	int rc = new_mr == NULL ? -FI_ENOMEM : register_memory(at, bytes, access, &new_mr->mr);
	if (rc != 0) {
		free(new_mr);
		return rc;
	}
	new_mr->prev = NULL;
	new_mr->next = local_mrs;
	if (local_mrs != NULL)
		local_mrs->prev = new_mr;
	*l = local_mrs = new_mr;
	return 0;
}

void gompi_local_mr_unregister(struct gompi_local_mr *l) {
	*(l->prev != NULL ? &l->prev->next : &local_mrs) = l->next;
	if (l->next != NULL)
		l->next->prev = l->prev;
	fi_close(&l->mr->fid);
	free(l);
}

int gompi_fabric_register(void *at, uint64_t bytes, bool writable, struct gompi_region *region) {
	const uint64_t access = FI_REMOTE_READ | (writable ? FI_READ | FI_WRITE | FI_REMOTE_WRITE : 0);
	const int modes = gompi_net.info->domain_attr->mr_mode;
	struct registration *r = malloc(sizeof *r);
	if (r == NULL)
		return MPI_ERR_NO_MEM;
	gompi_net_lock();
	int rc = register_memory(at, bytes, access, &r->mr);
	if (rc == 0 && fi_mr_key(r->mr) == 0) { // 0 means "not registered" in struct gompi_region
		fi_close(&r->mr->fid);
		rc = -FI_ENOKEY;
	}
	if (rc == 0) {
		r->key = fi_mr_key(r->mr);
		struct registration **b = bucket(r->key);
		r->next = *b;
		*b = r;
	}
	gompi_net_unlock();
	if (rc != 0) {
		free(r);
		return rc == -FI_ENOMEM ? MPI_ERR_NO_MEM : MPI_ERR_OTHER;
	}
	region->key = r->key;
	region->address = (modes & FI_MR_VIRT_ADDR) != 0 ? (uint64_t)(uintptr_t)at : 0;
	return MPI_SUCCESS;
}

void gompi_fabric_unregister(const struct gompi_region *region) {
	gompi_net_lock();
	struct registration **at = bucket(region->key), *r;
	while ((r = *at) != NULL && r->key != region->key)
		at = &r->next;
	if (r != NULL) {
		*at = r->next;
		fi_close(&r->mr->fid);
	}
	gompi_net_unlock();
	free(r);
}

void gompi_registrations_free(void) {
	while (local_mrs != NULL)
		gompi_local_mr_unregister(local_mrs);
	for (int i = 0; i < BUCKETS; i++) {
		struct registration *r;
		while ((r = buckets[i]) != NULL) {
			buckets[i] = r->next;
			fi_close(&r->mr->fid);
			free(r);
		}
	}
}
