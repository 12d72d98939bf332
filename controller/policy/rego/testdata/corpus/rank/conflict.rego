# two values for one reason are a fault
package spokeshave.rank

multiplier["x"] := 2 if input.offering.vcpu > 1
multiplier["x"] := 3 if input.offering.arch == "arm64"
