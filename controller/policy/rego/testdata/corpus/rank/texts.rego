# texts are built, split and searched
package spokeshave.rank

multiplier[concat("-", [input.offering.zone, input.offering.arch])] := 2
adder["size"] := 1 if split(input.offering.instanceType, ".")[1] == "xlarge"
exclude contains sprintf("%s in %v", [upper(input.offering.arch), input.offering.zone]) if regex.match(`^g[0-9]`, input.offering.family)
