// Package accountcheck asks an AWS account the twenty questions on which this project
// relies, and compares the answers with what the provider expects. The first fifteen
// checks only read; the others launch two of the smallest instances for a few minutes
// and end them.
//
// Not here: the conformance suite, which exercises the provider as a whole
// (controller/cloud/providertest), and the command (cmd/awscheck).
package accountcheck
