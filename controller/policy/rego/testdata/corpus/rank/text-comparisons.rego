# texts compare by bytes, with constants on either side
package spokeshave.rank

multiplier["eq"] := 2 if input.offering.family == "m7i"
multiplier["neq"] := 2 if "m7i" != input.offering.family
multiplier["lt"] := 2 if input.offering.zone < "b"
multiplier["gte"] := 2 if "b" >= input.offering.zone
multiplier["starts"] := 2 if startswith(input.offering.instanceType, "m7i.")
multiplier["ends"] := 2 if endswith(input.offering.instanceType, "xlarge")
exclude contains "has a 5" if contains(input.offering.instanceType, "5")
