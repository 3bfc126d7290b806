package main

import "gompirma/core/boot/pmi1"

// newServer makes the job's PMI-1 server. Besides the library's own processes it serves those of other MPIs that speak
// the protocol: they look under PMI_process_mapping for who runs where.
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
		Notify:   func(rank int, e pmi1.Event) { j.mail.send(said{rank, e}) },
	})
}
