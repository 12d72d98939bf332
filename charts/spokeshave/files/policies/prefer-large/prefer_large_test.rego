package spokeshave.rank_test

import data.spokeshave.rank

test_both_are_added if {
	rank.adder == {"licences per node": 0.02, "DaemonSets per node": 0.01} with input as {"offering": {}, "pool": {}} with data.config as {"licenceUSD": 0.02, "daemonsetUSD": 0.01}
}
