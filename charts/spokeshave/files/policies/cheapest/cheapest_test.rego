package spokeshave.rank_test

import data.spokeshave.rank

test_every_offering_keeps_its_cost if {
	rank.multiplier == {"billed price": 1} with input as {"offering": {"capacityType": "spot"}, "pool": {"name": "default"}}
}
