# seconds and costs by reason
package spokeshave.consolidate

hold["idle"] := 60 - input.candidate.idleSeconds if input.candidate.idleSeconds < 60
cost["pods"] := input.candidate.pods * 0.5
cost["spot"] := 0.1 if input.candidate.capacityType == "spot"
