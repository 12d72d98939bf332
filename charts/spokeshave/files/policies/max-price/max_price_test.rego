package spokeshave.ceiling_test

import data.spokeshave.ceiling

config := {"hourlyUSD": 2, "perVCPU": 0.1, "spotShare": 0.5}

launch(capacity, price, regular) := {"launch": {"capacityType": capacity, "price": price, "onDemand": regular, "vcpu": 16}}

test_cheap_enough if {
	count(ceiling.deny) == 0 with input as launch("spot", 0.5, 1) with data.config as config
}

test_too_dear if {
	ceiling.deny == {"the node costs more than hourlyUSD", "the node costs more than perVCPU"} with input as launch("on-demand", 2.5, 2.5) with data.config as config
}

test_spot_hardly_cheaper if {
	ceiling.deny == {"spot costs more than spotShare of on-demand"} with input as launch("spot", 0.6, 1) with data.config as config
}

test_no_bounds if {
	count(ceiling.deny) == 0 with input as launch("spot", 9, 1) with data.config as {"hourlyUSD": 0, "perVCPU": 0, "spotShare": 0}
}
