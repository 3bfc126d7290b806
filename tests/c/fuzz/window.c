/* Tracks the epochs of windows, as the calls of all ranks have opened and closed them. */
#include "fuzz.h"

enum { FULL = 1, EMPTY = 2 }; /* the group of an exposure or access epoch: all processes of the window, or none */

static struct object *world_group(const struct object *w) { return &pool[T_GROUP][w->size == ranks ? 1 : 2]; }

void window_learn(struct object *o) {
	void *value = NULL;
	int flag = 0;
	MPI_Group group;
	MPI_Win win = o->value.pointer;

	ignore_errors(1);
	handle_errors(T_WIN, win);
	o->flavor = 0;
	MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &value, &flag);
	if (flag)
		o->flavor = *(int *)value;
	o->length = 0;
	MPI_Win_get_attr(win, MPI_WIN_SIZE, &value, &flag);
	if (flag)
		o->length = *(MPI_Aint *)value;
	o->size = 1;
	MPI_Win_get_group(win, &group);
	MPI_Group_size(group, &o->size);
	MPI_Group_rank(group, &o->rank);
	MPI_Group_free(&group);
	ignore_errors(0);
	o->access = NONE;
	o->exposed = o->started = o->completed = o->broken = 0;
}

static int is_locked(const struct object *w) { return w->access == LOCK; }
static int is_all_locked(const struct object *w) { return w->access == LOCK_ALL; }
static int is_passive(const struct object *w) { return w->access == LOCK || w->access == LOCK_ALL; }
static int is_started(const struct object *w) { return w->access == START; }
static int is_posted(const struct object *w) { return w->exposed && w->access == NONE && !w->completed; }
static int is_completed(const struct object *w) { return w->exposed && w->completed; }
static int is_open(const struct object *w) { return w->access != NONE && w->flavor != MPI_WIN_FLAVOR_DYNAMIC; }
static int is_idle(const struct object *w) { return w->access == NONE && !w->exposed; }

need window_need(const struct call *c) {
	static const struct {
		const char *calls;
		need fits;
	} needs[] = {{"Win_unlock", is_locked},
		     {"Win_unlock_all", is_all_locked},
		     {"Win_flush*|R*", is_passive},
		     {"Win_complete", is_started},
		     {"Win_start", is_posted},
		     {"Win_wait|Win_test", is_completed},
		     {"Put|Get|*ccumulate|Fetch_and_op|Compare_and_swap", is_open},
		     {"Win_post|Win_lock*|Win_fence|Win_free", is_idle}};
	for (size_t k = 0; k < sizeof needs / sizeof needs[0]; k++)
		if (is_called(c, needs[k].calls))
			return needs[k].fits;
	return NULL;
}

static void wrong(struct call *c, const char *note) {
	c->state_error = 1;
	c->state_classes[0] = MPI_ERR_RMA_SYNC;
	c->state_classes[1] = 0;
	c->state_note = note;
}

static void hold(struct call *c, const char *note) { c->state_hold = note; }

static const struct argument *argument(const struct call *c, const char *name) {
	int i = find_param(c, name);
	return i < 0 ? NULL : &c->arg[i];
}

static int is_right(const struct call *c, const char *name) {
	const struct argument *a = argument(c, name);
	return a && a->truth == RIGHT;
}

/* Returns FULL if the group argument of MPI_Win_post or MPI_Win_start has all processes of the window, EMPTY if it has
 * no process, 0 otherwise. */
static int group_of(const struct call *c) {
	if (!is_right(c, "group"))
		return 0;
	if (c->group == &pool[T_GROUP][0])
		return EMPTY;
	return c->group == world_group(c->win) ? FULL : 0;
}

static int is_operation(const struct call *c) {
	return is_called(c, "Put|Get|Accumulate|Get_accumulate|Fetch_and_op|Compare_and_swap|Rput|Rget|Raccumulate|"
			    "Rget_accumulate");
}

static void operation_state(struct call *c, const struct object *w) {
	const struct argument *target = argument(c, "target_rank");
	int nowhere = target->value.number == MPI_PROC_NULL, request = find_param(c, "request") >= 0;
	if (nowhere)
		return;
	if (w->access == NONE)
		wrong(c, "no access epoch");
	else if (w->access == LOCK && target->truth == RIGHT && target->value.number != w->target)
		wrong(c, "another target is locked");
	else if (w->access == START && w->started == EMPTY)
		wrong(c, "the target is not in the group");
	if (w->access == FENCE || (w->access == START && request))
		c->state_note = "nobody can say";
}

/* Decides what the current epoch of the window means for the call: the call is allowed, or it is erroneous and must
 * return an error, or this program must not make the call. */
void window_state(struct call *c) {
	struct object *w = c->win;
	const struct argument *rank = argument(c, "rank");
	if (!w || c->f->chapter != 12)
		return;
	if (w->broken) {
		hold(c, "the ranks may see the window in different epochs");
		return;
	}
	if (is_operation(c)) {
		operation_state(c, w);
		return;
	}
	if (is_called(c, "Win_fence")) {
		if (w->access == START || w->access == LOCK || w->access == LOCK_ALL)
			wrong(c, "an access epoch is open");
		else if (w->exposed)
			wrong(c, "an exposure epoch is open");
		else if (!is_right(c, "assert"))
			hold(c, "the assertion may be right");
	} else if (is_called(c, "Win_lock")) {
		const struct argument *type = argument(c, "lock_type");
		if (w->access == LOCK_ALL || w->access == START ||
		    (w->access == LOCK && rank->truth == RIGHT && rank->value.number == w->target))
			wrong(c, "an access epoch is open");
		else if (w->access != NONE || w->exposed)
			hold(c, "whether it may is not clear in this epoch");
		else if (rank->truth != RIGHT ||
			 (type->value.number == MPI_LOCK_EXCLUSIVE && rank->value.number != w->rank))
			hold(c, "another rank has the lock");
	} else if (is_called(c, "Win_unlock")) {
		if (w->access != LOCK)
			wrong(c, "nothing is locked");
		else if (rank->truth == RIGHT && rank->value.number != w->target)
			wrong(c, "another target is locked");
	} else if (is_called(c, "Win_lock_all")) {
		if (w->access == LOCK || w->access == LOCK_ALL || w->access == START)
			wrong(c, "an access epoch is open");
		else if (w->access == FENCE || w->exposed)
			hold(c, "whether it may is not clear in this epoch");
	} else if (is_called(c, "Win_unlock_all")) {
		if (w->access != LOCK_ALL)
			wrong(c, "there was no MPI_Win_lock_all");
	} else if (is_called(c, "Win_flush*")) {
		if (rank && rank->value.number == MPI_PROC_NULL)
			return;
		if (w->access != LOCK && w->access != LOCK_ALL)
			wrong(c, "no passive target epoch");
		else if (w->access == LOCK && rank && rank->truth == RIGHT && rank->value.number != w->target)
			wrong(c, "another target is locked");
	} else if (is_called(c, "Win_post")) {
		if (w->exposed)
			wrong(c, "an exposure epoch is open");
		else if (w->access != NONE)
			hold(c, "whether it may is not clear in this epoch");
		else if (!group_of(c))
			hold(c, "not all are in the group");
	} else if (is_called(c, "Win_start")) {
		if (w->access == LOCK || w->access == LOCK_ALL || w->access == START)
			wrong(c, "an access epoch is open");
		else if (w->access == FENCE || !group_of(c) ||
			 (group_of(c) == FULL && (w->exposed != FULL || w->completed)))
			hold(c, "the targets have not posted");
	} else if (is_called(c, "Win_complete")) {
		if (w->access != START)
			wrong(c, "there was no MPI_Win_start");
	} else if (is_called(c, "Win_wait|Win_test")) {
		if (!w->exposed)
			wrong(c, "there was no MPI_Win_post");
		else if (w->exposed == FULL && !w->completed && is_called(c, "Win_wait"))
			hold(c, "the origins have not completed");
	} else if (is_called(c, "Win_free")) {
		if (w->access == LOCK || w->access == LOCK_ALL || w->access == START || w->exposed)
			wrong(c, "an epoch is open");
		else if (w->access == FENCE)
			c->state_note = "nobody can say";
	}
}

/* Records the effect of a successful call on the epoch of the window. */
void window_after(struct call *c) {
	struct object *w = c->win;
	if (!w || c->f->chapter != 12)
		return;
	if (c->wrong) { /* the call should have failed: verify.c has reported that, and the epoch may be unknown */
		w->broken =
			!is_operation(c) &&
			is_called(c,
				  "Win_fence|Win_lock*|Win_unlock*|Win_post|Win_start|Win_complete|Win_wait|Win_test");
		return;
	}
	if (is_called(c, "Win_fence"))
		w->access = argument(c, "assert")->value.number & MPI_MODE_NOSUCCEED ? NONE : FENCE;
	else if (is_called(c, "Win_lock")) {
		w->access = LOCK;
		w->target = (int)argument(c, "rank")->value.number;
	} else if (is_called(c, "Win_lock_all"))
		w->access = LOCK_ALL;
	else if (is_called(c, "Win_unlock|Win_unlock_all"))
		w->access = NONE;
	else if (is_called(c, "Win_post")) {
		w->exposed = group_of(c);
		w->completed = 0;
	} else if (is_called(c, "Win_start")) {
		w->access = START;
		w->started = group_of(c);
	} else if (is_called(c, "Win_complete")) {
		w->access = NONE;
		if (w->started == FULL)
			w->completed = 1;
		w->started = 0;
	} else if (is_called(c, "Win_wait") ||
		   (is_called(c, "Win_test") && *(int *)cell_of(find_param(c, "flag")) != 0))
		w->exposed = w->completed = 0;
}

/* Moves a window into another epoch. Collective. */
void window_move(struct object *w, uint64_t random) {
	MPI_Win win = w->value.pointer;
	if (w->broken)
		return;
	record_upkeep("moving a window to another epoch");
	if (w->exposed || w->access != NONE) {
		if (random >> 8 & 3)
			window_close(w);
		return;
	}
	switch (random % 5) {
	case 0:
		upkeep(MPI_Win_fence(0, win), "MPI_Win_fence");
		w->access = FENCE;
		break;
	case 1:
		w->target = w->rank;
		upkeep(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, w->target, 0, win), "MPI_Win_lock");
		w->access = LOCK;
		break;
	case 2:
		upkeep(MPI_Win_lock_all(0, win), "MPI_Win_lock_all");
		w->access = LOCK_ALL;
		break;
	default:
		upkeep(MPI_Win_post(world_group(w)->value.pointer, 0, win), "MPI_Win_post");
		w->exposed = FULL;
		w->completed = 0;
		if (random % 5 == 4 && random >> 10 & 1)
			return;
		upkeep(MPI_Win_start(world_group(w)->value.pointer, 0, win), "MPI_Win_start");
		if (random % 5 == 4) {
			upkeep(MPI_Win_complete(win), "MPI_Win_complete");
			w->completed = 1;
			return;
		}
		w->access = START;
		w->started = FULL;
	}
}

/* Ends all epochs of a window. Collective. */
void window_close(struct object *w) {
	MPI_Win win = w->value.pointer;
	MPI_Group group = world_group(w)->value.pointer;
	record_upkeep("ending the epochs of a window");
	switch (w->access) {
	case FENCE:
		upkeep(MPI_Win_fence(MPI_MODE_NOSUCCEED, win), "MPI_Win_fence");
		break;
	case LOCK:
		upkeep(MPI_Win_unlock(w->target, win), "MPI_Win_unlock");
		break;
	case LOCK_ALL:
		upkeep(MPI_Win_unlock_all(win), "MPI_Win_unlock_all");
		break;
	case START:
		upkeep(MPI_Win_complete(win), "MPI_Win_complete");
		w->completed |= w->started == FULL;
		break;
	default:
		break;
	}
	if (w->exposed == FULL && !w->completed) {
		upkeep(MPI_Win_start(group, 0, win), "MPI_Win_start");
		upkeep(MPI_Win_complete(win), "MPI_Win_complete");
	}
	if (w->exposed)
		upkeep(MPI_Win_wait(win), "MPI_Win_wait");
	w->access = NONE;
	w->exposed = w->started = w->completed = 0;
}

/* Returns a hash of the state of all windows. It must be equal on all ranks. */
uint64_t window_digest(void) {
	uint64_t digest = 0;
	for (int s = 0; s < SLOTS; s++) {
		const struct object *w = &pool[T_WIN][s];
		if (w->agreed)
			digest = mix(digest, (uint64_t)w->access + 8 * (uint64_t)w->exposed +
						     64 * (uint64_t)w->completed + 512 * (uint64_t)w->broken);
	}
	return digest;
}
