# A node is disrupted to save money only if that saves enough: in dollars, and
# in percent of what the node costs.
package spokeshave.consolidate

deny contains "it would save too few dollars" if {
	applies
	input.candidate.savings < data.config.hourlyUSD
}

deny contains "it would save too small a part of the price" if {
	applies
	input.candidate.savings < (input.candidate.price * data.config.percent) / 100
}

applies if input.candidate.method in data.config.methods
