# else and comprehension are evaluated by OPA
package spokeshave.consolidate

weight := 1 if { input.candidate.pods > 2 } else := 0.5 if { input.candidate.pods > 0 } else := 0
cost["weight"] := weight
deny contains "one label" if count([k | some k, _ in input.candidate.labels]) == 1
