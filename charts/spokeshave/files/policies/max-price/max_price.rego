# No node is launched that costs too much: by the hour, by vCPU, or as a spot
# instance that is hardly cheaper than one that nobody interrupts.
package spokeshave.ceiling

deny contains "the node costs more than hourlyUSD" if {
	data.config.hourlyUSD > 0
	input.launch.price > data.config.hourlyUSD
}

deny contains "the node costs more than perVCPU" if {
	data.config.perVCPU > 0
	input.launch.price > input.launch.vcpu * data.config.perVCPU
}

deny contains "spot costs more than spotShare of on-demand" if {
	data.config.spotShare > 0
	input.launch.capacityType == "spot"
	input.launch.onDemand > 0
	input.launch.price > input.launch.onDemand * data.config.spotShare
}
