# an else is beyond the subset
package spokeshave.rank

ladder := 1 if { input.offering.vcpu > 4 } else := 2 if { input.offering.vcpu > 2 } else := 3
multiplier["ladder"] := ladder
adder["beside it"] := 0.5 if input.offering.arch == "arm64"
