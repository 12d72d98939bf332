# caps from what is spent
package spokeshave.ceiling

cap["cluster"] := {"hourly_usd": input.spend.cluster.runningUSD + 1} if input.spend.cluster.nodes > 2
cap["nodepool/gpu"] := {"hourly_usd": input.spend["nodepool/gpu"].runningUSD}
