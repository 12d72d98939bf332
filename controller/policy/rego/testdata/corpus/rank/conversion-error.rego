# so is a conversion that fails, though not one of an undefined value
package spokeshave.rank

adder["none"] := to_number(input.pool.labels.none)
adder["team"] := to_number(input.pool.labels.team)
