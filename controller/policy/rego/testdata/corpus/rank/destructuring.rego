# arrays are taken apart
package spokeshave.rank

multiplier["parts"] := 2 if { [family, size] := split(input.offering.instanceType, "."); size == "large"; family == input.offering.family }
adder["pair"] := n if { [input.offering.zone, n] = ["a", 4] }
