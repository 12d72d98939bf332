package spokeshave.ceiling_test

import data.spokeshave.ceiling

# The Unix epoch was a Thursday: midnight in UTC, 9 in the morning in Tokyo.
config := {
	"timeZone": "Asia/Tokyo", "days": ["Thursday"], "from": 8, "to": 18,
	"office": {"cluster": {"hourly_usd": 50}}, "otherwise": {"cluster": {"hourly_usd": 5}},
}

test_during_office_hours if {
	ceiling.cap == {"cluster": {"hourly_usd": 50}} with data.config as config with time.now_ns as 0
}

test_at_night if {
	ceiling.cap == {"cluster": {"hourly_usd": 5}} with data.config as object.union(config, {"timeZone": "UTC"}) with time.now_ns as 0
}

test_on_other_days if {
	ceiling.cap == {"cluster": {"hourly_usd": 5}} with data.config as object.union(config, {"days": ["Friday"]}) with time.now_ns as 0
}
