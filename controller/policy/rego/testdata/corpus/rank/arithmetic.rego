# arithmetic is as exact as in OPA
package spokeshave.rank

multiplier["sum"] := input.offering.vcpu + 0.1
multiplier["product"] := input.offering.cost * 3
adder["ratio"] := input.offering.memoryGiB / (input.offering.vcpu + 1)
adder["rest"] := round(input.offering.memoryGiB) % 3
adder["rounded"] := round(input.offering.cost * 10) / 10
