package spokeshave.consolidate_test

import data.spokeshave.consolidate

config := {"protected": {"example.com/keep": "yes"}}

candidate(method, labels, pool_labels) := {"candidate": {
	"node": "n1", "nodePool": "batch", "method": method,
	"labels": labels, "nodePoolLabels": pool_labels,
}}

test_an_unmarked_node_may_go if {
	count(consolidate.deny) == 0 with input as candidate("Empty", {"team": "a"}, {}) with data.config as config
}

test_another_value_does_not_protect if {
	count(consolidate.deny) == 0 with input as candidate("Empty", {"example.com/keep": "no"}, {}) with data.config as config
}

test_a_marked_node_stays if {
	consolidate.deny == {"the node is protected by its label example.com/keep=yes"} with input as candidate("Underutilized", {"example.com/keep": "yes"}, {})
		with data.config as config
}

test_a_marked_pool_keeps_its_nodes if {
	consolidate.deny == {"the NodePool batch is protected by its label example.com/keep=yes"} with input as candidate("Drifted", {}, {"example.com/keep": "yes"})
		with data.config as config
}

test_an_expired_node_goes if {
	count(consolidate.deny) == 0 with input as candidate("Expired", {"example.com/keep": "yes"}, {"example.com/keep": "yes"})
		with data.config as config
}
