# an error behind a condition that data makes false is not reached
package spokeshave.rank

multiplier["x"] := 1 / input.offering.gpus if data.config.n == 3
