// Package sts is the part of STS that tells a client who it is and why it was
// denied. The caller is the assumed role named controller, whatever the
// credentials.
package sts

import (
	"spokeshave.dev/simulator/awserr"
	"spokeshave.dev/simulator/iam/policy"
	"spokeshave.dev/simulator/ids"
	"spokeshave.dev/simulator/operation"
)

// Caller is the ARN of every caller.
func Caller(account ids.Account) string {
	return "arn:aws:sts::" + account.ID + ":assumed-role/controller/ec2sim"
}

type decodeRequest struct {
	Message string `query:"EncodedMessage"`
}

// Operations are the actions that STS answers for an account.
func Operations(account ids.Account) map[string]operation.Operation {
	return map[string]operation.Operation{
		"GetCallerIdentity":          operation.Writes(func(*operation.Call, *struct{}) (any, error) { return identity(account), nil }),
		"DecodeAuthorizationMessage": operation.Writes(decode),
	}
}

type identityResult struct {
	ARN     string `xml:"Arn"`
	UserID  string `xml:"UserId"`
	Account string `xml:"Account"`
}

// https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html
func identity(account ids.Account) identityResult {
	return identityResult{Caller(account), "AROASIMULATED:ec2sim", account.ID}
}

// https://docs.aws.amazon.com/STS/latest/APIReference/API_DecodeAuthorizationMessage.html
func decode(_ *operation.Call, in *decodeRequest) (any, error) {
	text, err := policy.Decode(in.Message)
	if err != nil {
		return nil, awserr.New("InvalidAuthorizationMessageException", "The message is not an encoded authorization message.")
	}
	return struct {
		Message string `xml:"DecodedMessage"`
	}{text}, nil
}
