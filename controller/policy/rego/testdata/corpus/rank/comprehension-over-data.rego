# a comprehension is beyond the subset, even one over data alone
package spokeshave.rank

heavy := {f | some f, w in data.config.table; w > 1}
multiplier["heavy"] := 2 if input.offering.family in heavy
