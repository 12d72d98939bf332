# Spending caps from the configuration, one per scope: cluster,
# nodepool/<name>, label/<key>=<value> of a NodePool, or namespace/<name>; teams
# are a short form for a label. A scope without an entry has no cap.
package spokeshave.ceiling

cap[scope] := limit if {
	some scope, limit in data.config.caps
}

cap[scope] := limit if {
	some team, limit in object.get(data.config, "teams", {})
	scope := sprintf("label/%s=%s", [data.config.teamLabel, team])
}
