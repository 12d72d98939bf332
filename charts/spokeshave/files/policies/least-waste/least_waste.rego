# An offering that the waiting pods fill badly costs more in effect: what they
# would leave unused of vCPU and memory is added to its cost, times a weight.
package spokeshave.rank

multiplier["vCPU and memory left unused"] := 1 + (data.config.weight * unused) if {
	input.offering.podsFit > 0
	unused > 0
}

# The share that the mean waiting pods leave, on average of vCPU and memory.
unused := 1 - ((input.offering.podsFit / input.pool.pendingPods) * ((input.pool.pendingCPU / input.offering.vcpu) + (input.pool.pendingMemoryGiB / input.offering.memoryGiB))) / 2 if {
	input.pool.pendingPods > 0
	input.offering.vcpu > 0
	input.offering.memoryGiB > 0
}
