# numbers compare with constants on either side, and 1 equals 1.0
package spokeshave.rank

multiplier["lt"] := 2 if input.offering.vcpu < 4
multiplier["lte"] := 2 if 4 <= input.offering.vcpu
multiplier["gt"] := 3 if 3.9999999 > input.offering.vcpu
multiplier["gte"] := 0.5 if input.offering.vcpu >= 8
adder["eq"] := 1 if input.offering.gpus == 1.0
adder["neq"] := 1 if input.offering.gpus != 1
exclude contains "tenths" if input.offering.cost == 0.1 + 0.2
