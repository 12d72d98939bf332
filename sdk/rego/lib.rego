# What policies of all hooks need again and again. Copy this file beside your
# policy and write `import data.spokeshave.lib`. Its rules cost nothing at run
# time: they are resolved when the policy is loaded.
package spokeshave.lib

# labelled: a set of labels has a label with a value. Unlike
# `labels[key] == value`, it can be negated: a label that is not there has another
# value.
labelled(labels, key, value) if object.get(labels, key, "") == value

# like: a text matches one of a list of patterns, in which * stands for anything.
like(text, patterns) if {
	some pattern in patterns
	glob.match(pattern, null, text)
}

# spot: an offering, launch or candidate is a spot instance.
spot(thing) if thing.capacityType == "spot"

# accelerated: an offering or a launch has accelerators.
accelerated(thing) if thing.gpus > 0

# younger: a candidate is not as many seconds old.
younger(candidate, seconds) if candidate.ageSeconds < seconds

# within: it is one of days ("Monday"), and from o'clock or later, but not to
# o'clock yet, by the clock of a time zone ("Europe/Berlin").
within(zone, days, from, to) if {
	time.weekday([time.now_ns(), zone]) in days
	clock := time.clock([time.now_ns(), zone])
	hour := (clock[0] + (clock[1] / 60)) + (clock[2] / 3600)
	hour >= from
	hour < to
}
