// Package sim is a cloud in memory with a virtual clock: it launches, lists
// and ends instances that are nothing but records, sells offerings out and
// loses answers when told to. Simulations, fuzzers and tests run on it at the
// speed of the processor, and it passes the same conformance suite as EC2.
//
// Not here: the EC2 protocol (cmd/ec2sim speaks that), nodes that join a
// cluster, and prices of its own: the catalogue it is given has them.
package sim
