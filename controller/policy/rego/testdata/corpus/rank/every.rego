# every holds where all do, and for nothing at all
package spokeshave.rank

multiplier["all"] := 2 if every x in ["m7i", "g5"] { x != input.offering.family }
multiplier["none"] := 2 if every x in [] { x == input.offering.family }
