package load

import (
	"fmt"
	"strings"

	yaml3 "go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/api/resource"

	"spokeshave.dev/api/quantity"
)

// amount is a Kubernetes quantity in policy.yaml.
type amount struct{ resource.Quantity }

const noAmount = "%q is no amount such as 50M or 16Mi"

// UnmarshalJSON implements json.Unmarshaler.
func (a *amount) UnmarshalJSON(raw []byte) error {
	text := strings.Trim(string(raw), `"`)
	q, err := quantity.Parse(text)
	if err != nil {
		return fmt.Errorf("limits: "+noAmount, text)
	}
	a.Quantity = q
	return nil
}

// amounts checks fields that are amounts, so that the error has a position. What an alias stands for
// is left to the decoder.
func (p *positions) amounts(fields ...string) {
	for _, field := range fields {
		n := p.at[field]
		if n == nil || n.Kind != yaml3.ScalarNode || n.Tag == "!!null" {
			continue
		}
		if _, err := quantity.Parse(n.Value); err != nil {
			p.problem(n, field, noAmount, n.Value)
		}
	}
}
