# two rules may give one reason the same value
package spokeshave.rank

multiplier["x"] := 2 if input.offering.vcpu > 1
multiplier["x"] := 2.0 if input.offering.arch == "arm64"
