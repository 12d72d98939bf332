# paths into data, known and by field
package spokeshave.rank

multiplier["known"] := data.config.nested.a.b[1]
adder["by field"] := data.config.table[input.offering.family]
adder["out of range"] := data.config.nested.a.b[5]
