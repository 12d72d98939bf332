// Package refresh asks AWS again, from time to time and in the background, for what
// decisions read: each Source on a goroutine of its own, with a deadline for each reading,
// so that a service that does not answer holds up neither a decision nor another source.
// What was read last stays in force until the next reading succeeds.
//
// Not here: what is read (packages market and availability), and who is told that a source
// is stale (package upkeep).
package refresh
