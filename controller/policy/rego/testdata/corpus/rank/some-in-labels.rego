# a label is found by its value
package spokeshave.rank

multiplier[k] := 2 if { some k, v in input.pool.labels; v == "web" }
adder["any"] := 1 if { some v in input.pool.labels; v == input.offering.zone }
