# a partial set of the input is beyond the subset or looked through
package spokeshave.rank

kinds contains "arm" if input.offering.arch == "arm64"
kinds contains "gpu" if input.offering.gpus > 0
multiplier["kind"] := 2 if "gpu" in kinds
multiplier[k] := 3 if some k in kinds
