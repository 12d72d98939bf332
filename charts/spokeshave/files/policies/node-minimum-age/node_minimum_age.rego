# A young node is left alone: it was launched for something, and images and
# caches are paid for already.
package spokeshave.consolidate

hold["the node is younger than its minimum age"] := data.config.seconds - input.candidate.ageSeconds if {
	input.candidate.method in data.config.methods
	input.candidate.ageSeconds < data.config.seconds
}
