package listing

import (
	"encoding/base64"
	"fmt"

	"spokeshave.dev/simulator/awserr"
)

// Paging are the parameters of a call that answers in pages.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/Query-Requests.html#api-pagination
type Paging struct {
	MaxResults *int
	NextToken  string
}

// Page cuts out the page asked for, of least to most items. Without MaxResults
// everything is one page.
func Page[T any](items []T, p Paging, least, most int) (cut []T, next string, err error) {
	from := 0
	if p.NextToken != "" {
		text, err := base64.RawURLEncoding.DecodeString(p.NextToken)
		if err != nil {
			return nil, "", awserr.New("InvalidNextToken", "The token '%s' is invalid", p.NextToken)
		}
		if n, err := fmt.Sscanf(string(text), "after %d", &from); n != 1 || err != nil || from < 0 {
			return nil, "", awserr.New("InvalidNextToken", "The token '%s' is invalid", p.NextToken)
		}
	}
	size := len(items)
	if p.MaxResults != nil {
		size = *p.MaxResults
		if size < least || size > most {
			return nil, "", awserr.New(awserr.InvalidValue, "Value ( %d ) for parameter maxResults is invalid. Expecting a value between %d and %d.", size, least, most)
		}
	}
	from = min(from, len(items))
	to := min(from+size, len(items))
	if to < len(items) {
		next = base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "after %d", to))
	}
	return items[from:to], next, nil
}
