package spokeshave.consolidate_test

import data.spokeshave.consolidate

config := {"seconds": 600, "methods": ["Empty"]}

test_a_young_node_is_held_for_the_rest if {
	consolidate.hold == {"the node is younger than its minimum age": 500} with input as {"candidate": {"method": "Empty", "ageSeconds": 100}} with data.config as config
}

test_an_old_one_is_not if {
	count(consolidate.hold) == 0 with input as {"candidate": {"method": "Empty", "ageSeconds": 600}} with data.config as config
}
