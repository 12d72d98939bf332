# launches are denied one by one
package spokeshave.ceiling

deny contains "gpus" if input.launch.gpus > 0
deny contains sprintf("%s pays for %s", [ns, input.launch.instanceType]) if { some ns in input.launch.namespaces; ns == "db" }
deny contains "no team" if not input.launch.nodePoolLabels.team
