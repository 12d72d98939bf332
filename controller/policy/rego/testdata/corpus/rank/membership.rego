# in looks into sets, arrays and objects of data, and into literals with variables
package spokeshave.rank

multiplier["set"] := 2 if input.offering.family in {"m7i", "g5"}
multiplier["array"] := 2 if input.offering.family in data.config.list
multiplier["values"] := 2 if input.offering.gpus + 0.5 in data.config.table
multiplier["mixed"] := 2 if input.offering.zone in {"a", data.config.word}
exclude contains "not in" if not input.offering.arch in ["amd64", "arm64"]
