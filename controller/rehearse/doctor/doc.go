// Package doctor says what a swap of controllers would meet in a cluster: what runs
// there, what stays the same, what differs and whom that concerns, what a person has to
// do before, which permissions are missing, and what the nodes cost now and would cost.
// Where Spokeshave runs already, it says how that does.
//
// A report is a function of its Input. Reading a cluster is in controller/rehearse/take;
// settings and IAM policies are judged by the caller, who hands over the outcome.
package doctor
