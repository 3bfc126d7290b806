package main

import (
	"fmt"

	"gompirma/core/boot/pmi1"
	"gompirma/core/insight"
)

// world is a job in the sense of MPI: processes that share MPI_COMM_WORLD. They have consecutive numbers.
type world struct {
	number, first, size int
	id                  string
	parent              string // value of boot.EnvParent; "" for the job of the command line
	apart               bool   // the ranks have a memory of their own
	part                int    // index of the first rank's part of the memory for records
	starter             int    // the rank that has asked for the job
	connected           bool   // the starter has connected to the job
	placement
	pmi       *pmi1.Server
	exited    []chan struct{} // by rank: a channel that is closed when the rank has ended
	ended     []int           // ranks that ended successfully
	hasFailed bool            // a rank has failed, so the others are being ended
	outlived  *failure        // first failure of a rank that the others have outlived (--ft)
	abandoned bool            // not all ranks could be started, so the others have been killed
}

// addWorld adds the job of the ranks from `first` on, with a PMI-1 server. The server serves processes of gompirma and
// of other MPI libraries that use PMI-1. The other libraries read the placement of the ranks from the key
// PMI_process_mapping.
func (j *job) addWorld(first, size int) *world {
	w := &world{number: len(j.worlds), first: first, size: size, id: j.id, exited: make([]chan struct{}, size)}
	if w.number > 0 {
		w.id = fmt.Sprintf("%s.%d", j.id, w.number)
	}
	j.worlds = append(j.worlds, w)
	apps := make([]int, size)
	values := map[string]string{}
	for i := range apps {
		r := &j.ranks[first+i]
		r.world, apps[i] = w, r.part-j.ranks[first].part
		w.exited[i] = make(chan struct{})
	}
	if w.number == 0 {
		values["PMI_process_mapping"] = mapping(j.nodes)
	}
	config := pmi1.Config{
		Size:     size,
		KvsName:  w.id,
		AppNum:   apps,
		Universe: max(size, cores()),
		Values:   values,
		Names:    j.names,
		Notify:   func(rank int, e pmi1.Event) { j.mail.send(stateChange{first + rank, e}) },
	}
	if j.opts.remote == "" {
		config.Spawn = func(rank int, what *pmi1.Spawn) (int, *pmi1.SpawnError) {
			return j.requestSpawn(first+rank, w.exited[rank], what)
		}
		config.SpawnDone = func(parent string, connected bool) { j.mail.send(spawnDone{parent, connected}) }
	}
	w.pmi = pmi1.NewServer(config)
	return w
}

// pmiState returns what the PMI-1 server knows about a rank.
func (j *job) pmiState(rank int) pmi1.State {
	w := j.ranks[rank].world
	return w.pmi.State(rank - w.first)
}

// tag returns the text that --tag-output writes in front of the lines of a rank.
func (w *world) tag(rank int) string {
	return "[" + shortName(w.number, rank-w.first) + "] "
}

// label returns the name of a rank in messages: "rank 2", or "job 1 rank 2" for a job that a rank has started.
func (w *world) label(rank int) string {
	if w != nil && w.number > 0 {
		return insight.RankName(w.number, rank-w.first)
	}
	return insight.RankName(0, rank)
}
