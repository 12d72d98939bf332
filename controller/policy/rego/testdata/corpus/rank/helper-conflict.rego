# a helper with two values is a fault where both bodies hold
package spokeshave.rank

several := 1 if input.offering.vcpu > 1
several := 2 if input.offering.vcpu > 3
multiplier["x"] := several
