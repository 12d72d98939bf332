# without a launch, rules about it hold for nothing
package spokeshave.ceiling

cap["cluster"] := {"hourly_usd": input.launch.price}
deny contains "always"
