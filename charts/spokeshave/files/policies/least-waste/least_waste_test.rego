package spokeshave.rank_test

import data.spokeshave.rank

pool := {"pendingPods": 10, "pendingCPU": 10, "pendingMemoryGiB": 40}

test_a_full_node_costs_its_price if {
	count(rank.multiplier) == 0 with input as {"offering": {"podsFit": 2, "vcpu": 2, "memoryGiB": 8}, "pool": pool} with data.config as {"weight": 1}
}

test_unused_memory_counts if {
	rank.multiplier == {"vCPU and memory left unused": 1.25} with input as {"offering": {"podsFit": 2, "vcpu": 2, "memoryGiB": 16}, "pool": pool} with data.config as {"weight": 1}
}

test_nothing_waits_nothing_is_wasted if {
	count(rank.multiplier) == 0 with input as {"offering": {"podsFit": 0, "vcpu": 2, "memoryGiB": 16}, "pool": {"pendingPods": 0, "pendingCPU": 0, "pendingMemoryGiB": 0}} with data.config as {"weight": 1}
}
