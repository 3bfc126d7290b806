package check

import "maps"

func (k *rank) trackInfo(e *event) {
	h := e.In("info").Uint()
	switch e.name {
	case "MPI_Info_create":
		k.infos[e.Out("info").Uint()] = map[string]string{}
	case "MPI_Info_set":
		if k.infos[h] != nil {
			k.infos[h][e.In("key").Text()] = e.In("value").Text()
		}
	case "MPI_Info_delete":
		delete(k.infos[h], e.In("key").Text())
	case "MPI_Info_dup":
		k.infos[e.Out("newinfo").Uint()] = maps.Clone(k.infos[h])
	case "MPI_Info_free":
		delete(k.infos, h)
	}
}

// hintsOf returns a copy of the hints that a call has passed.
func hintsOf(k *rank, e *event) map[string]string { return maps.Clone(k.infos[e.In("info").Uint()]) }
