# and not negative
package spokeshave.rank

adder["x"] := input.offering.vcpu - 3
