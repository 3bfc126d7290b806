#include "datatype/user_op.h"

struct gompi_known gompi_user_ops = {
	.table = {&gompi_table_nothing},
	.most = 4096,
	.spares = {sizeof(struct gompi_user_op), offsetof(struct gompi_user_op, next), NULL}};

bool gompi_user_op_open(uintptr_t handle, uintptr_t function, bool large) {
	struct gompi_user_op *u = gompi_known_take(&gompi_user_ops);
	if (u == NULL)
		return false;
	*u = (struct gompi_user_op){.function = function, .large = large};
	return gompi_known_keep(&gompi_user_ops, handle, u);
}
