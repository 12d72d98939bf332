// Package sts is the part of STS that tells a client who it is. The caller is
// the assumed role named controller, whatever the credentials.
package sts

import (
	"spokeshave.dev/simulator/ids"
	"spokeshave.dev/simulator/operation"
)

// Role is the name of the role that every caller has assumed.
const Role = "controller"

// Operations are the actions that STS answers for an account.
func Operations(account ids.Account) map[string]operation.Operation {
	// https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html
	identity := func(*operation.Call, *struct{}) (any, error) {
		return struct {
			ARN     string `xml:"Arn"`
			UserID  string `xml:"UserId"`
			Account string `xml:"Account"`
		}{"arn:aws:sts::" + account.ID + ":assumed-role/" + Role + "/ec2sim", "AROASIMULATED:ec2sim", account.ID}, nil
	}
	return map[string]operation.Operation{"GetCallerIdentity": operation.Writes(identity)}
}
