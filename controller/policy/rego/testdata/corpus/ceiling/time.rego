# input.time is a text, and the clock the same moment
package spokeshave.ceiling

cap["cluster"] := {"hourly_usd": 1} if input.time > "2026-03-14"
deny contains "quiet" if time.weekday(time.now_ns()) in data.config.quiet
