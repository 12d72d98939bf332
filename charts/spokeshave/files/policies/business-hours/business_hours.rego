# Nodes are not disrupted while people work, by the clock of their time zone.
package spokeshave.consolidate

hold["business hours"] := (data.config.to * 3600) - second if {
	input.candidate.method in data.config.methods
	time.weekday([time.now_ns(), data.config.timeZone]) in data.config.days
	second >= data.config.from * 3600
	second < data.config.to * 3600
}

# The second of the day, by the clock on the wall.
second := ((clock[0] * 3600) + (clock[1] * 60)) + clock[2]

clock := time.clock([time.now_ns(), data.config.timeZone])
