// Memory that peers may read and write.
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "base/abi.h"
#include "fabric/net.h"

// What is registered, by its key.
struct registration {
	struct registration *next;
	uint64_t key;
	struct fid_mr *mr;
};
enum { BUCKETS = 256 };
static struct registration *buckets[BUCKETS]; // under the lock of the net

static struct registration **bucket(uint64_t key) { return &buckets[(key ^ key >> 32 ^ key >> 8) % BUCKETS]; }

// A key that nobody can guess, of as many bytes as the provider takes; 0: there is none.
static uint64_t draw_key(void) {
	uint64_t key = 0;
	if (getrandom(&key, sizeof key, 0) != sizeof key)
		return 0;
	size_t bytes = gompi_net.info->domain_attr->mr_key_size;
	return bytes >= sizeof key || bytes == 0 ? key : key & ((1ull << 8 * bytes) - 1);
}

static int register_memory(void *at, uint64_t bytes, uint64_t key, struct fid_mr **mr) {
	const int modes = gompi_net.info->domain_attr->mr_mode;
	int rc = fi_mr_reg(gompi_net.domain, at, bytes, FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE, 0, key,
			   0, mr, NULL);
	if (rc != 0 || (modes & FI_MR_ENDPOINT) == 0)
		return rc;
	rc = fi_mr_bind(*mr, &gompi_net.ep->fid, 0);
	if (rc == 0)
		rc = fi_mr_enable(*mr);
	if (rc != 0)
		fi_close(&(*mr)->fid);
	return rc;
}

int gompi_fabric_register(void *at, uint64_t bytes, struct gompi_region *region) {
	const int modes = gompi_net.info->domain_attr->mr_mode;
	struct registration *r = malloc(sizeof *r);
	if (r == NULL)
		return MPI_ERR_NO_MEM;
	int rc = -FI_ENOKEY;
	gompi_net_take();
	for (int tries = 0; rc == -FI_ENOKEY && tries < 8; tries++) {
		uint64_t key = 0;
		if ((modes & FI_MR_PROV_KEY) == 0 && (key = draw_key()) == 0)
			continue;
		rc = register_memory(at, bytes, key, &r->mr);
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
	for (int i = 0; i < BUCKETS; i++) {
		struct registration *r;
		while ((r = buckets[i]) != NULL) {
			buckets[i] = r->next;
			fi_close(&r->mr->fid);
			free(r);
		}
	}
}
