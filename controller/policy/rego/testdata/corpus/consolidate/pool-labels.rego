# the labels of a pool, by a key of data
package spokeshave.consolidate

deny contains "team" if input.candidate.nodePoolLabels.team == data.config.word
deny contains team if { team := input.candidate.nodePoolLabels.team; startswith(team, "d") }
