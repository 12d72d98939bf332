# seconds are not negative
package spokeshave.consolidate

hold["x"] := input.candidate.savings - 0.1
