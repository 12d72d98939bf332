# a cap is not negative
package spokeshave.ceiling

cap["cluster"] := {"hourly_usd": input.spend.cluster.runningUSD - 10}
