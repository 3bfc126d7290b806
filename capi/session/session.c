// The objects of sessions, their error handlers, information and process sets (MPI-5.0 11.3). Nothing communicates.
#include "session/session.h"

#include <stdlib.h>

#include "base/error_status.h"
#include "base/go_callbacks.h"
#include "group/group.h"
#include "info/values.h"
#include "session/z_calls.h"

struct gompi_object_pool gompi_sessions = GOMPI_OBJECT_POOL(GOMPI_ON_SESSION, struct gompi_session);

int gompi_raise_invalid_session(MPI_Session session, const char *call) {
	struct gompi_error_status v;
	gompi_set_error(&v, MPI_ERR_SESSION,
			session == MPI_SESSION_NULL ? "the session is MPI_SESSION_NULL"
						    : "%#llx is not a session, or has been finalized",
			(unsigned long long)(uintptr_t)session);
	return gompi_return_error(v.class, call, v.text, GOMPI_ON_NONE, 0);
}

// Stores the requested memory allocation kinds (MPI-5.0 11.4.3) of one pair of an info object. Ignores other keys: the
// thread level is always MPI_THREAD_MULTIPLE.
static int read_pair(void *to, const char *key, size_t key_length, const char *value, size_t length,
		     struct gompi_error_status *v) {
	struct gompi_session *s = to;
	if (strcmp(key, GOMPI_KEY_KINDS) == 0)
		gompi_memory_kinds_set(&s->alloc_kinds, (struct gompi_text_view){value, length});
	return MPI_SUCCESS;
}

uintptr_t gompi_session_create(MPI_Info info, uintptr_t errhandler, struct gompi_error_status *v) {
	struct gompi_session new = {0};
	if (gompi_info_for_each(info, v, read_pair, &new) != MPI_SUCCESS)
		return 0;
	gompi_biased_lock(&gompi_sessions.lock);
	struct gompi_session *s = gompi_pool_alloc(&gompi_sessions);
	uintptr_t h = 0;
	if (s != NULL) {
		*s = new;
		gompi_errhandler_init(&s->errhandler, errhandler);
		if ((h = gompi_handles_add(&gompi_sessions.handles, s)) == 0)
			gompi_pool_free(&gompi_sessions, s);
	}
	gompi_biased_unlock(&gompi_sessions.lock);
	if (h == 0) {
		free(new.alloc_kinds);
		gompi_set_error(v, MPI_ERR_NO_MEM, "out of memory for a session");
	}
	return h;
}

void gompi_session_destroy(uintptr_t session) {
	gompi_biased_lock(&gompi_sessions.lock);
	struct gompi_session *s = gompi_session_get((MPI_Session)session);
	gompi_errhandler_detach(&s->errhandler);
	free(s->alloc_kinds);
	gompi_handles_remove(&gompi_sessions.handles, session);
	gompi_pool_free(&gompi_sessions, s);
	gompi_biased_unlock(&gompi_sessions.lock);
}

int gompi_session_get_info(MPI_Session session, MPI_Info *info_used) {
	static const char call[] = "MPI_Session_get_info";
	struct gompi_error_status v;
	const struct gompi_session *s = gompi_session_get(session);
	if (s == NULL)
		return gompi_raise_invalid_session(session, call);
	if (info_used == NULL)
		return gompi_null_argument_error(call, "info_used", GOMPI_ON_SESSION, (uintptr_t)session);
	struct gompi_info *x = gompi_info_begin();
	gompi_info_add(x, "thread_level", "MPI_THREAD_MULTIPLE");
	gompi_memory_kinds_add(x, NULL, s->alloc_kinds);
	int class = gompi_info_finish(x, info_used, &v);
	return class == MPI_SUCCESS ? class
				    : gompi_return_error(class, call, v.text, GOMPI_ON_SESSION, (uintptr_t)session);
}
GOMPI_ENTRY(MPI_Session_get_info, gompi_session_get_info);

int gompi_group_from_session_pset(MPI_Session session, const char *pset_name, MPI_Group *newgroup) {
	static const char call[] = "MPI_Group_from_session_pset";
	struct gompi_error_status v;
	struct gompi_ranks members = {.session = (int32_t)(uintptr_t)session};
	if (gompi_session_get(session) == NULL)
		return gompi_raise_invalid_session(session, call);
	if (pset_name == NULL || newgroup == NULL)
		return gompi_null_argument_error(call, "pset_name or newgroup", GOMPI_ON_SESSION, (uintptr_t)session);
	if (gompi_go_callbacks.session_pset_members(pset_name, &members))
		return gompi_group_create(call, &members, newgroup);
	*newgroup = MPI_GROUP_NULL;
	gompi_set_error(&v, MPI_ERR_ARG,
			"there is no process set \"%.200s\"; MPI_Session_get_nth_pset returns the names", pset_name);
	return gompi_return_error(v.class, call, v.text, GOMPI_ON_SESSION, (uintptr_t)session);
}
GOMPI_ENTRY(MPI_Group_from_session_pset, gompi_group_from_session_pset);

int gompi_session_call_errhandler(MPI_Session session, int errorcode) {
	static const char call[] = "MPI_Session_call_errhandler";
	const struct gompi_session *s = gompi_session_get(session);
	if (s == NULL)
		return gompi_raise_invalid_session(session, call);
	return gompi_errhandler_call(&s->errhandler, call, errorcode, GOMPI_ON_SESSION, (uintptr_t)session);
}
GOMPI_ENTRY(MPI_Session_call_errhandler, gompi_session_call_errhandler);

int gompi_session_set_errhandler(MPI_Session session, MPI_Errhandler errhandler) {
	static const char call[] = "MPI_Session_set_errhandler";
	struct gompi_error_status v;
	struct gompi_session *s = gompi_session_get(session);
	if (s == NULL)
		return gompi_raise_invalid_session(session, call);
	if (gompi_errhandler_attach(&v, GOMPI_ON_SESSION, &s->errhandler, errhandler) != MPI_SUCCESS)
		return gompi_return_error(v.class, call, v.text, GOMPI_ON_SESSION, (uintptr_t)session);
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Session_set_errhandler, gompi_session_set_errhandler);

int gompi_session_get_errhandler(MPI_Session session, MPI_Errhandler *errhandler) {
	static const char call[] = "MPI_Session_get_errhandler";
	struct gompi_session *s = gompi_session_get(session);
	if (s == NULL)
		return gompi_raise_invalid_session(session, call);
	if (errhandler == NULL)
		return gompi_null_argument_error(call, "errhandler", GOMPI_ON_SESSION, (uintptr_t)session);
	*errhandler = (MPI_Errhandler)gompi_errhandler_acquire(&s->errhandler);
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Session_get_errhandler, gompi_session_get_errhandler);
