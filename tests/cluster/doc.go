// Package cluster holds the tests of jobs on several hosts, which bed.sh creates from namespaces on one machine: `make
// test-cluster` runs them, as root.
package cluster
