package client

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Encode writes a structure of the SDK as JSON without the fields that say nothing: null,
// and empty texts but for the values of tags. Attempts are kept on NodeClaims, where room
// is scarce.
func Encode(in any) (json.RawMessage, error) {
	raw, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("encode request: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var tree any
	if err := decoder.Decode(&tree); err != nil {
		return nil, fmt.Errorf("encode request: %w", err)
	}
	if raw, err = json.Marshal(pruned(tree)); err != nil {
		return nil, fmt.Errorf("encode request: %w", err)
	}
	return raw, nil
}

func pruned(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, field := range v {
			// The value of a tag may be empty; an enumeration's may not.
			if field == nil || field == "" && key != "Value" {
				delete(v, key)
				continue
			}
			v[key] = pruned(field)
		}
	case []any:
		for i := range v {
			v[i] = pruned(v[i])
		}
	}
	return value
}
