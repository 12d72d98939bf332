# Nodes that somebody marked as protected are not disrupted to save money or
# to catch up with a changed configuration. A node past its expiry goes all the
# same: an age limit is a promise to whoever patches nodes.
package spokeshave.consolidate

deny contains reason if {
	input.candidate.method != "Expired"
	some key, value in data.config.protected
	input.candidate.labels[key] == value
	reason := sprintf("the node is protected by its label %s=%s", [key, value])
}

deny contains reason if {
	input.candidate.method != "Expired"
	some key, value in data.config.protected
	input.candidate.nodePoolLabels[key] == value
	reason := sprintf("the NodePool %s is protected by its label %s=%s", [input.candidate.nodePool, key, value])
}
