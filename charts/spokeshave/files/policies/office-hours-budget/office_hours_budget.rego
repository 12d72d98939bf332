# Caps that depend on the hour: generous while people wait for their builds,
# tight at night and over the weekend, or the other way round.
package spokeshave.ceiling

cap[scope] := limit if {
	office_hours
	some scope, limit in data.config.office
}

cap[scope] := limit if {
	not office_hours
	some scope, limit in data.config.otherwise
}

office_hours if {
	time.weekday([time.now_ns(), data.config.timeZone]) in data.config.days
	hour >= data.config.from
	hour < data.config.to
}

hour := (clock[0] + (clock[1] / 60)) + (clock[2] / 3600)

clock := time.clock([time.now_ns(), data.config.timeZone])
