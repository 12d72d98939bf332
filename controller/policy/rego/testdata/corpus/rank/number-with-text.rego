# values of different types order by type and are never equal
package spokeshave.rank

adder["number below text"] := 1 if input.offering.vcpu < "2"
multiplier["different"] := 2 if input.offering.zone != data.config.n
