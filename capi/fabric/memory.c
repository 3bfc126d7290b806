// Registration of memory: for peers to read and write, and for the provider's own use.
#include <rdma/fi_errno.h>
#include <stdlib.h>

#include "base/abi.h"
#include "base/random.h"
#include "fabric/net.h"

// A registration for peers, in a hash table by key.
struct registration {
	struct registration *next;
	uint64_t key;
	struct fid_mr *mr;
};
enum { BUCKETS = 256 };
static struct registration *buckets[BUCKETS]; // under gompi_net.lock
static struct gompi_local *locals;            // under gompi_net.lock

static struct registration **bucket(uint64_t key) { return &buckets[(key ^ key >> 32 ^ key >> 8) % BUCKETS]; }

// Returns a random key of the provider's key size, so that others cannot guess it. Returns 0 on failure.
static uint64_t draw_key(void) {
	uint64_t key = 0;
	if (!gompi_random(&key, sizeof key))
		return 0;
	size_t bytes = gompi_net.info->domain_attr->mr_key_size;
	return bytes >= sizeof key || bytes == 0 ? key : key & ((1ull << 8 * bytes) - 1);
}

static int register_as(void *at, uint64_t bytes, uint64_t access, uint64_t key, struct fid_mr **mr) {
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
		if ((modes & FI_MR_PROV_KEY) == 0 && (key = draw_key()) == 0)
			continue;
		rc = register_as(at, bytes, access, key, mr);
	}
	return rc;
}

int gompi_local_register(void *at, uint64_t bytes, uint64_t access, struct gompi_local **l) {
	struct gompi_local *mine = malloc(sizeof *mine);
	int rc = mine == NULL ? -FI_ENOMEM : register_memory(at, bytes, access, &mine->mr);
	if (rc != 0) {
		free(mine);
		return rc;
	}
	mine->before = NULL;
	mine->next = locals;
	if (locals != NULL)
		locals->before = mine;
	*l = locals = mine;
	return 0;
}

void gompi_local_unregister(struct gompi_local *l) {
	*(l->before != NULL ? &l->before->next : &locals) = l->next;
	if (l->next != NULL)
		l->next->before = l->before;
	fi_close(&l->mr->fid);
	free(l);
}

int gompi_fabric_register(void *at, uint64_t bytes, bool writable, struct gompi_region *region) {
	const uint64_t access = FI_REMOTE_READ | (writable ? FI_READ | FI_WRITE | FI_REMOTE_WRITE : 0);
	const int modes = gompi_net.info->domain_attr->mr_mode;
	struct registration *r = malloc(sizeof *r);
	if (r == NULL)
		return MPI_ERR_NO_MEM;
	gompi_net_take();
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
	gompi_net_give();
	if (rc != 0) {
		free(r);
		return rc == -FI_ENOMEM ? MPI_ERR_NO_MEM : MPI_ERR_OTHER;
	}
	region->key = r->key;
	region->address = (modes & FI_MR_VIRT_ADDR) != 0 ? (uint64_t)(uintptr_t)at : 0;
	return MPI_SUCCESS;
}

void gompi_fabric_unregister(const struct gompi_region *region) {
	gompi_net_take();
	struct registration **at = bucket(region->key), *r;
	while ((r = *at) != NULL && r->key != region->key)
		at = &r->next;
	if (r != NULL) {
		*at = r->next;
		fi_close(&r->mr->fid);
	}
	gompi_net_give();
	free(r);
}

void gompi_memory_end(void) {
	while (locals != NULL)
		gompi_local_unregister(locals);
	for (int i = 0; i < BUCKETS; i++) {
		struct registration *r;
		while ((r = buckets[i]) != NULL) {
			buckets[i] = r->next;
			fi_close(&r->mr->fid);
			free(r);
		}
	}
}
