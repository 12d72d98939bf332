# object.get has a default; whole documents are values
package spokeshave.rank

multiplier["default"] := object.get(input.pool.labels, "none", 7)
adder["whole"] := count(input.pool.labels)
