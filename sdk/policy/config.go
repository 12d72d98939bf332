package policy

import (
	"errors"
	"slices"
)

// Config is the policy's configuration, a JSON object. A getter gives the
// fallback for a key that is absent; a value of the wrong type and a key that
// nobody reads are errors, which the SDK reports for the author.
type Config struct {
	values map[string]value
	read   map[string]bool
	err    error
}

func parseConfig(b []byte) (*Config, error) {
	c := &Config{values: map[string]value{}, read: map[string]bool{}}
	if len(b) == 0 {
		return c, nil
	}
	v, err := parseJSON(b)
	if err != nil {
		return nil, errors.New("config: " + err.Error())
	}
	if v.kind == null {
		return c, nil
	}
	if v.kind != object {
		return nil, errors.New("config: not an object")
	}
	c.values = v.fields
	return c, nil
}

func (c *Config) get(key string, want kind) (value, bool) {
	c.read[key] = true
	v, ok := c.values[key]
	if !ok {
		return value{}, false
	}
	if v.kind != want {
		c.wrong(key, want)
		return value{}, false
	}
	return v, true
}

func (c *Config) wrong(key string, want kind) {
	if c.err == nil {
		c.err = errors.New("config." + key + ": not " + want.String())
	}
}

// Float is a number.
func (c *Config) Float(key string, fallback float64) float64 {
	if v, ok := c.get(key, number); ok {
		return v.number
	}
	return fallback
}

// String is a text.
func (c *Config) String(key, fallback string) string {
	if v, ok := c.get(key, text); ok {
		return v.text
	}
	return fallback
}

// Bool is a truth value.
func (c *Config) Bool(key string, fallback bool) bool {
	if v, ok := c.get(key, boolean); ok {
		return v.number != 0
	}
	return fallback
}

// Strings is a list of texts, nil when the key is absent.
func (c *Config) Strings(key string) []string {
	v, ok := c.get(key, list)
	if !ok {
		return nil
	}
	out := make([]string, 0, len(v.items))
	for _, item := range v.items {
		if item.kind != text {
			c.wrong(key, list)
			return nil
		}
		out = append(out, item.text)
	}
	return out
}

// Floats is an object whose values are numbers, nil when the key is absent.
func (c *Config) Floats(key string) map[string]float64 {
	v, ok := c.get(key, object)
	if !ok {
		return nil
	}
	out := make(map[string]float64, len(v.fields))
	for name, field := range v.fields {
		if field.kind != number {
			c.wrong(key, object)
			return nil
		}
		out[name] = field.number
	}
	return out
}

// Err is the first error so far, or that of a key which nothing has read.
func (c *Config) Err() error {
	if c.err != nil {
		return c.err
	}
	unknown := make([]string, 0, len(c.values))
	for key := range c.values {
		if !c.read[key] {
			unknown = append(unknown, key)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	slices.Sort(unknown)
	return errors.New("config." + unknown[0] + ": unknown key")
}
