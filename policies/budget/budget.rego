# Spending caps from the configuration, one per scope: cluster,
# nodepool/<name>, label/<key>=<value> of a NodePool, or namespace/<name>.
# A scope without an entry has no cap.
package spokeshave.ceiling

cap[scope] := limit if {
	some scope, limit in data.config.caps
}
