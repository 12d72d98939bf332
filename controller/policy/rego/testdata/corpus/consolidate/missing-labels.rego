# a node without labels has none
package spokeshave.consolidate

deny contains "tier" if input.candidate.labels.tier
deny contains "no tier" if not input.candidate.labels.tier
cost["labels"] := count(input.candidate.labels)
