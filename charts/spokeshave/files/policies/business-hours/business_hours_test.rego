package spokeshave.consolidate_test

import data.spokeshave.consolidate

# The Unix epoch was a Thursday: midnight in UTC, 9 in the morning in Tokyo.
config := {"timeZone": "Asia/Tokyo", "days": ["Thursday"], "from": 8, "to": 18, "methods": ["Empty"]}

test_held_until_the_hours_end if {
	consolidate.hold == {"business hours": 32400} with input as {"candidate": {"method": "Empty"}} with data.config as config with time.now_ns as 0
}

test_elsewhere_it_is_night if {
	count(consolidate.hold) == 0 with input as {"candidate": {"method": "Empty"}} with data.config as object.union(config, {"timeZone": "UTC"}) with time.now_ns as 0
}

test_another_day if {
	count(consolidate.hold) == 0 with input as {"candidate": {"method": "Empty"}} with data.config as object.union(config, {"days": ["Friday"]}) with time.now_ns as 0
}

test_another_method if {
	count(consolidate.hold) == 0 with input as {"candidate": {"method": "Expired"}} with data.config as config with time.now_ns as 0
}
