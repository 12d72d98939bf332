# a reason is a text
package spokeshave.rank

multiplier[x] := 2 if x := input.offering.vcpu
