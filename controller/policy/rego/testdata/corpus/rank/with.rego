# with replaces the input of a helper
package spokeshave.rank

expensive if input.offering.cost > 1
multiplier["if it were"] := 2 if expensive with input.offering.cost as 5
multiplier["as it is"] := 2 if expensive
