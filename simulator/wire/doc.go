// Package wire writes answers in AWS's wire formats: EC2's query protocol, that
// of IAM and STS, AWS JSON and REST JSON. What the answer says is decided
// elsewhere; here is only how it looks.
package wire
