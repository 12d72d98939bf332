# not holds for what is false or undefined
package spokeshave.rank

multiplier["a"] := 2 if not input.offering.family == "m7i"
multiplier["b"] := 2 if not input.pool.labels.none
multiplier["c"] := 2 if not input.offering.gpus > 0
exclude contains "d" if not data.config.set[input.offering.family]
