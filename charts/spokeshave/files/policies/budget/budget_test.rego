package spokeshave.ceiling_test

import data.spokeshave.ceiling

test_no_configuration_means_no_cap if {
	count(ceiling.cap) == 0 with data.config as {"caps": {}}
}

test_each_scope_has_its_cap if {
	caps := {"cluster": {"hourly_usd": 10}, "nodepool/gpu": {"monthly_usd": 500, "soft": true}}
	ceiling.cap == caps with data.config as {"caps": caps}
}

test_teams_are_labels if {
	ceiling.cap == {"label/team=ml": {"hourly_usd": 5}} with data.config as {"caps": {}, "teamLabel": "team", "teams": {"ml": {"hourly_usd": 5}}}
}
