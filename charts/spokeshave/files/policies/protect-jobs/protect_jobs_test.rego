package spokeshave.consolidate_test

import data.spokeshave.consolidate

node(method, jobs) := {"candidate": {"method": method, "jobPods": jobs}}

test_jobs_protect if {
	consolidate.deny == {"the node runs pods of Jobs"} with input as node("Underutilized", 1) with data.config as {"methods": ["Underutilized"]}
}

test_services_do_not if {
	count(consolidate.deny) == 0 with input as node("Underutilized", 0) with data.config as {"methods": ["Underutilized"]}
}
