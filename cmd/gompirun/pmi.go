package main

import "gompirma/core/boot/pmi1"

// newServer returns the job's PMI-1 server. It serves processes of gompirma and of other MPI libraries that use PMI-1.
// The other libraries read the placement of the ranks from the key PMI_process_mapping.
func (j *job) newServer() *pmi1.Server {
	apps := make([]int, len(j.ranks))
	for i := range j.ranks {
		apps[i] = j.ranks[i].part
	}
	return pmi1.NewServer(pmi1.Config{
		Size:     len(j.ranks),
		KvsName:  j.id,
		AppNum:   apps,
		Universe: max(len(j.ranks), cores()),
		Values:   map[string]string{"PMI_process_mapping": mapping(j.nodes)},
		Notify:   func(rank int, e pmi1.Event) { j.mail.send(stateChange{rank, e}) },
	})
}
