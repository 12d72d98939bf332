# a label that is missing is undefined: no comparison holds, nor its negation by an operator
package spokeshave.rank

multiplier["team"] := 2 if input.pool.labels.team == "web"
multiplier["missing eq"] := 2 if input.pool.labels.none == "x"
multiplier["missing neq"] := 2 if input.pool.labels.none != "x"
multiplier["missing not"] := 2 if not input.pool.labels.none == "x"
multiplier["empty"] := 2 if input.pool.labels.empty == ""
multiplier["by field"] := 2 if input.pool.labels[input.offering.family]
multiplier["size"] := to_number(input.pool.labels.size)
