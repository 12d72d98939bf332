# No spot instances at all: what does that cost, and what does it spare?
package spokeshave.rank

exclude contains "spot is not for us" if input.offering.capacityType == "spot"
