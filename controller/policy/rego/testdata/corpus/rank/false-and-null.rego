# a condition that is false or null, and one that is defined
package spokeshave.rank

multiplier["false"] := 2 if data.config.set.c7g
multiplier["defined"] := 2 if data.config.set.m7i
multiplier["zero is true"] := 2 if input.offering.gpus
multiplier["empty is true"] := 2 if input.offering.family
