#include "base/event.h"

gompi_a32 gompi_events_observed;
static void (*_Atomic event_observer)(const struct gompi_event *e);

void gompi_event_set_observer(void (*observer)(const struct gompi_event *e)) {
	gompi_store_release(&event_observer, observer); // pairs with the load in gompi_event_notify
}

void gompi_event_notify(const struct gompi_event *e) {
	void (*observer)(const struct gompi_event *) = gompi_load_acquire(&event_observer);
	if (observer != NULL)
		observer(e);
}
