// Package cluster holds the tests of jobs over several hosts, which bed.sh makes of namespaces on one machine: `make
// test-cluster` runs them, as root.
package cluster
