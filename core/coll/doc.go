// Package coll owns the collective operations.
package coll
