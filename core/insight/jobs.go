package insight

import (
	"fmt"
	"sort"
)

// Jobs holds the index of the first part of each job, in ascending order. Job 0 is the job of the command line; ranks
// have started the others.
type Jobs []int

// Of returns the job of the rank that has a part, and the rank in this job.
func (j Jobs) Of(part int) (job, rank int) {
	job = sort.SearchInts(j, part+1) - 1
	if job < 0 {
		return 0, part
	}
	return job, part - j[job]
}

// Name returns the name of the rank that has a part: "rank 2", or "job 1 rank 2" for a job that a rank has started.
func (j Jobs) Name(part int) string { return RankName(j.Of(part)) }

// RankName returns the name of a rank of a job.
func RankName(job, rank int) string {
	if job > 0 {
		return fmt.Sprintf("job %d rank %d", job, rank)
	}
	return fmt.Sprintf("rank %d", rank)
}
