// Package instances finds, tags and ends the EC2 instances of a cluster, and covers the
// time in which EC2's reads trail its writes: an instance launched a moment ago exists
// even if EC2 does not show it yet. Looking at instances and ending them is batched.
//
// Not here: starting them (package fleet).
package instances
