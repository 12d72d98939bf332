# the clock is the decision's
package spokeshave.rank

multiplier[time.weekday(time.now_ns())] := 2
adder["hour"] := time.clock(time.now_ns())[0]
