# The cheapest offering that fits is the best one: every offering keeps the
# cost it has so far, which for the first policy in line is its billed price.
# A policy of your own that prices offerings differently runs before or after
# this one and needs no change here.
package spokeshave.rank

multiplier["billed price"] := 1
