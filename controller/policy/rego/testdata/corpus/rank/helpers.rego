# helper rules and functions are looked through
package spokeshave.rank

default chosen := 3
chosen := 4 if input.pool.labels.team == "web"
cheap if input.offering.cost < 0.1
cheap if input.offering.capacityType == "spot"
twice(x) := x * 2
multiplier["chosen"] := chosen
adder["twice"] := twice(input.offering.vcpu) if cheap
exclude contains "not cheap" if not cheap
