# a factor is a number
package spokeshave.rank

multiplier["x"] := input.offering.family
