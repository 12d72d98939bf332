# a set of reasons
package spokeshave.consolidate

deny contains "protected" if { some k, v in data.config.protected; input.candidate.labels[k] == v }
deny contains sprintf("young: %v", [input.candidate.ageSeconds]) if input.candidate.ageSeconds < data.config.minutes * 60
