package spokeshave.consolidate_test

import data.spokeshave.consolidate

config := {"hourlyUSD": 0.05, "percent": 20, "methods": ["Underutilized"]}

node(method, price, savings) := {"candidate": {"method": method, "price": price, "savings": savings}}

test_enough_is_enough if {
	count(consolidate.deny) == 0 with input as node("Underutilized", 0.4, 0.1) with data.config as config
}

test_few_dollars if {
	consolidate.deny == {"it would save too few dollars"} with input as node("Underutilized", 0.1, 0.03) with data.config as config
}

test_small_part if {
	consolidate.deny == {"it would save too small a part of the price"} with input as node("Underutilized", 1, 0.1) with data.config as config
}

test_other_methods_are_not_about_money if {
	count(consolidate.deny) == 0 with input as node("Drifted", 1, 0) with data.config as config
}
