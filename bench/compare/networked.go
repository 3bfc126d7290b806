package main

import (
	"slices"
	"strings"
)

// spread returns measurements for a table on two hosts, each with half of the ranks. Adjacent measurements share a
// launch.
func spread(heading string, all ...measurement) []measurement {
	for i := range all {
		all[i].batch = true
	}
	return withHeading(heading, all...)
}

// computing returns measurements of operations on a target that computes meanwhile. In MPICH and Open MPI the
// operations may make no progress before the target calls MPI.
func computing(rows ...string) (all []measurement) {
	for _, row := range rows {
		m := newMeasurement("computing", row, strings.ReplaceAll(row, "_",
			" + ")+" of 8 B, target computes", 100)
		m.name = "computing." + row
		all = append(all, m)
	}
	return all
}

// networked lists the measurements on two hosts.
var networked = slices.Concat(
	spread("Windows, one rank on each of two hosts",
		rma("put_flush:8", "put 8 B + flush", 1.2),
		rma("get_flush:8", "get 8 B + flush", 1.4),
		rma("fop_flush", "fetch_and_op + flush", 1.2),
		rma("cas_flush", "compare_and_swap + flush", 1.2),
		rma("acc8_flush", "accumulate 8 B + flush", 0.8),
		rma("put_bunch", "put 8 B, a flush every 64", 1),
		rma("put_flush:1048576", "put 1 MiB + flush", 1),
		rma("get_flush:1048576", "get 1 MiB + flush", 1),
		rma("acc_1m", "accumulate 1 MiB double SUM + flush", 1),
		rma("put_vector", "put vector 1024 x 8 B, stride 16", 1.2),
		rma("get_vector", "get vector 1024 x 8 B, stride 16", 1.2),
		rma("lock_put_unlock", "lock + put + unlock", 1.2),
		rma("fence_put", "fence with one put", 1.2),
		rma("pscw", "post, start, put, complete, wait, pairwise", 1),
	),
	spread("Windows while the target computes", computing("put", "get", "acc", "fop", "cas", "lock_put_unlock")...),
	spread("Messages, one rank on each of two hosts",
		message("pingpong:8", "ping-pong 8 B, one way", 0.7),
		message("pingpong:1048576", "ping-pong 1 MiB, one way", 0),
		message("stream:8", "64 messages of 8 B posted: time per message", 0),
		coll("barrier", "barrier", 0.8),
		coll("allreduce:8", "allreduce 8 B", 0),
	),
	spread("Four ranks on each of two hosts",
		rma("fence_put", "fence with one put", 1.2).on(8),
		coll("allreduce:8", "allreduce 8 B", 1.2).on(8),
		rma("lock_fop_unlock", "contended lock + fetch_and_op + unlock", 1.2).on(8),
		coll("barrier", "barrier", 0).on(8),
	),
)
