package policy

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Refusal is why a request was denied: the words of AWS, and the message that
// only sts:DecodeAuthorizationMessage reads.
// https://docs.aws.amazon.com/STS/latest/APIReference/API_DecodeAuthorizationMessage.html
type Refusal struct {
	Principal string
	Request   Request
	Decision  Decision
}

// Text says who is denied what, and why.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot_access-denied.html
func (r Refusal) Text() string {
	why := "because no identity-based policy allows the " + r.Request.Action + " action"
	if r.Decision.Explicit {
		why = "with an explicit deny in an identity-based policy"
	}
	return fmt.Sprintf("User: %s is not authorized to perform: %s on resource: %s %s", r.Principal, r.Request.Action, r.Request.Resource, why)
}

// Encoded is the message that EC2 adds to a refusal.
func (r Refusal) Encoded() (string, error) {
	type item struct {
		Key    string   `json:"key"`
		Values []string `json:"values"`
	}
	conditions := []item{}
	for _, key := range slices.Sorted(maps.Keys(r.Request.Keys)) {
		conditions = append(conditions, item{key, r.Request.Keys[key]})
	}
	matched := []string{}
	if r.Decision.Explicit {
		matched = append(matched, r.Decision.Statement)
	}
	text, err := json.Marshal(map[string]any{
		"allowed": false, "explicitDeny": r.Decision.Explicit, "matchedStatements": map[string]any{"items": matched},
		"context": map[string]any{
			"principal": map[string]string{"arn": r.Principal}, "action": r.Request.Action, "resource": r.Request.Resource,
			"conditions": map[string]any{"items": conditions},
		},
	})
	if err != nil {
		return "", fmt.Errorf("write authorization message: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(text), nil
}

// Decode reads an encoded message.
func Decode(encoded string) (string, error) {
	text, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil || !json.Valid(text) {
		return "", fmt.Errorf("decode authorization message: it is not one")
	}
	return string(text), nil
}
