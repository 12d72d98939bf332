# arrays have elements and lengths
package spokeshave.ceiling

deny contains "first" if input.launch.namespaces[0] == "web"
deny contains "shared" if count(input.launch.namespaces) > 1
deny contains "all" if every ns in input.launch.namespaces { ns != "ml" }
