# two caps for one scope are a fault
package spokeshave.ceiling

cap["cluster"] := {"hourly_usd": 1} if input.spend.cluster.nodes > 1
cap["cluster"] := {"hourly_usd": 2} if input.spend.cluster.nodes > 2
