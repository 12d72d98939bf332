package ec2

import (
	"spokeshave.dev/simulator/awserr"
	"spokeshave.dev/simulator/operation"
)

// maxToken is the longest client token.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_RunInstances.html
const maxToken = 64

// remembered is the answer that a client token stands for.
type remembered struct {
	fingerprint string
	result      any
}

// tokens are the client tokens that were used, with their answers.
type tokens struct{ answers map[string]*remembered }

// once carries a request out once for each client token: the same request
// again gets the same answer, a different one is refused. What failed to begin
// with is not remembered; a fleet that launched nothing did not fail, it
// answered with errors, and those are replayed.
// https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-idempotency.html
func (s *tokens) once(c *operation.Call, token string, do func() (any, error)) (any, error) {
	if token == "" {
		return do()
	}
	if len(token) > maxToken {
		return nil, awserr.New(awserr.InvalidValue, "Invalid value for clientToken: %d characters; at most %d are allowed", len(token), maxToken)
	}
	for _, r := range token {
		if r < ' ' || r > '~' {
			return nil, awserr.New(awserr.InvalidValue, "Invalid value for clientToken: only ASCII characters are allowed")
		}
	}
	key, mark := c.Action+" "+token, c.Form.Fingerprint()
	if before := s.answers[key]; before != nil {
		if before.fingerprint != mark {
			return nil, awserr.New("IdempotentParameterMismatch", "The client token you have provided is associated with a resource that was created with different parameters.")
		}
		return before.result, nil
	}
	result, err := do()
	if err == nil {
		s.answers[key] = &remembered{mark, result}
	}
	return result, err
}
