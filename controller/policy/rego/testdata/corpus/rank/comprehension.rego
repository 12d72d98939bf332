# so is a comprehension over the input
package spokeshave.rank

multiplier["labels"] := count([k | some k, _ in input.pool.labels])
exclude contains "many" if count({k | some k, v in input.pool.labels; v == input.offering.zone}) > 0
