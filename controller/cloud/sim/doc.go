// Package sim implements a cloud in memory with a virtual clock. Its instances are
// records that it launches, lists and terminates. On request it makes offerings out of
// stock and drops the answers of calls. Simulations, fuzzers and tests use it, since it
// never has to wait; it passes the same conformance suite as the EC2 provider.
//
// It does not implement the EC2 protocol (cmd/ec2sim does) or nodes that join a
// cluster, and has no prices of its own: its catalogue is given.
package sim
