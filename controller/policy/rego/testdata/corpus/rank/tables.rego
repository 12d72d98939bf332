# a table in data makes one alternative for each entry
package spokeshave.rank

multiplier[reason] := w if {
	some family, w in data.config.table
	input.offering.family == family
	reason := sprintf("family %s", [family])
}
adder[family] := w if {
	some family, w in data.config.table
	w > input.offering.vcpu / 2
}
