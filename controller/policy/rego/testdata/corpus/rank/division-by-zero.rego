# an error in a built-in function is a fault
package spokeshave.rank

multiplier["x"] := 1 / input.offering.gpus
