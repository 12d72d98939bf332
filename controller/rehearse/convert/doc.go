// Package convert makes NodePools and EC2NodeClasses of node groups: of what AWS's command
// line prints about Auto Scaling groups, launch templates and managed node groups, and of
// eksctl's configuration files. It reads documents only, and asks nobody.
//
// What a group has and a NodePool cannot say becomes a Note. No field of a group is left
// out without one.
package convert
