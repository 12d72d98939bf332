# Every node costs more than its instance: licences of agents that are paid per
# host, and what DaemonSets take. With that added, few large nodes are cheaper
# than many small ones.
package spokeshave.rank

adder["licences per node"] := data.config.licenceUSD

adder["DaemonSets per node"] := data.config.daemonsetUSD
