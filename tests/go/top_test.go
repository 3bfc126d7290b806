// Package gotest holds the tests that need the whole project: installation, launcher, many processes, and the rules that the code keeps.
package gotest

// top is the project's folder, seen from this package.
const top = "../.."
