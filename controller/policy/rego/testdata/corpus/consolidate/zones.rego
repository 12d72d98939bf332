# an array of data, and a name that is missing in it
package spokeshave.consolidate

hold["zone"] := 300 if not input.candidate.zone in data.config.zones
hold["index"] := i * 10 if { some i, z in data.config.zones; z == input.candidate.zone }
