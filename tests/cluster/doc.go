// Package cluster holds the tests of jobs on several hosts. bed.sh creates the hosts from namespaces on one machine.
// `make test-cluster` runs the tests, as root.
package cluster
