// Package upkeep keeps the AWS provider in step with the cluster over time: what
// nodes report of their memory corrects the catalogue, launch templates and
// instance profiles that nothing uses any more are deleted, and zonal shifts are
// watched.
//
// Not here: EC2NodeClasses (provider/aws/nodeclass), and instances without a
// claim (reconcile/garbage).
package upkeep
