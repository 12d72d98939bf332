# caps by scope, some from data
package spokeshave.ceiling

cap["cluster"] := {"hourly_usd": data.config.cap, "monthly_usd": 5000}
cap[scope] := {"hourly_usd": usd, "soft": true} if { some scope, usd in data.config.scopes; scope != "cluster" }
