# A pod of a Job that is moved starts all over. Nodes that run some stay until
# they are done.
package spokeshave.consolidate

deny contains "the node runs pods of Jobs" if {
	input.candidate.method in data.config.methods
	input.candidate.jobPods > 0
}
