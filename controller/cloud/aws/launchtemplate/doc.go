// Package launchtemplate makes the launch templates that CreateFleet requests name, with
// everything that nodes of an EC2NodeClass have in common: image, user data, disks,
// network interfaces, security groups, metadata options. A template's name follows from
// its contents, so that equal ones are shared and none is ever changed. Those that
// nothing uses are deleted.
//
// Not here: user data itself (package bootstrap), and the requests (package fleet).
package launchtemplate
