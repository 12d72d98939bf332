# a helper with two bodies
package spokeshave.consolidate

voluntary if input.candidate.method == "Empty"
voluntary if input.candidate.method == "Underutilized"
deny contains "outside the window" if { voluntary; time.weekday(time.now_ns()) == "Saturday" }
