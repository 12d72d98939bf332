// Package focus writes what a cluster has cost by day as rows of FOCUS, the FinOps Open
// Cost and Usage Specification, version 1.3: dataset Cost and Usage, as CSV or Parquet.
//
// A row is what one holder (a workload, DaemonSets, idle capacity) has cost in a day within
// what was rented (NodePool, instance family, capacity type). All rows of a day for the same
// rented capacity are the split of one origin charge, which the columns Allocated… say.
//
// Not here: how amounts arise (controller/core/spend) and where they are kept
// (controller/rehearse/spending).
package focus
