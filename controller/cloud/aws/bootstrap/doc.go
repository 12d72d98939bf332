// Package bootstrap writes the user data that an instance boots with: what its image
// needs to join the cluster, merged with the EC2NodeClass's own user data, in the format
// of each AMI family (AL2, AL2023, Bottlerocket, Windows, Custom).
//
// It is a function of its arguments: the same node always has the same user data.
//
// Not here: where the cluster's details come from (package resolve), and the launch
// templates that carry user data (package launchtemplate).
package bootstrap
