# Nodes with accelerators are launched by those who may, for those who may have
# them, and for no more dollars than they may spend.
package spokeshave.ceiling

cap[scope] := limit if {
	some scope, limit in data.config.caps
}

deny contains reason if {
	input.launch.gpus > 0
	not trusted
	reason := sprintf("NodePool %s may not launch accelerators", [input.launch.nodePool])
}

deny contains reason if {
	input.launch.gpus > 0
	count(data.config.namespaces) > 0
	some namespace in input.launch.namespaces
	not listed(namespace)
	reason := sprintf("namespace %s may not have accelerators", [namespace])
}

trusted if input.launch.nodePool in data.config.nodePools

trusted if {
	some key, value in data.config.labels
	object.get(input.launch.nodePoolLabels, key, "") == value
}

listed(namespace) if namespace in data.config.namespaces
