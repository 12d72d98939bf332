package operation

import (
	"bytes"
	"encoding/json"
	"strconv"

	"spokeshave.dev/simulator/awserr"
	"spokeshave.dev/simulator/query"
)

// Reads adapts a query operation that changes nothing: a dry run of it succeeds
// once its parameters are understood.
func Reads[R any](answer func(c *Call, in *R) (any, error)) Operation {
	return func(c *Call) (any, error) {
		var in R
		if err := c.decode(&in); err != nil {
			return nil, err
		}
		if c.DryRun {
			return nil, awserr.DryRun()
		}
		return answer(c, &in)
	}
}

// Writes adapts a query operation that heeds Call.DryRun itself, after it has
// checked the request and before it changes anything.
func Writes[R any](answer func(c *Call, in *R) (any, error)) Operation {
	return func(c *Call) (any, error) {
		var in R
		if err := c.decode(&in); err != nil {
			return nil, err
		}
		return answer(c, &in)
	}
}

func (c *Call) decode(into any) error {
	if c.Form == nil {
		return awserr.New(awserr.InvalidQuery, "the action %s takes form parameters", c.Action)
	}
	if dry := c.Form.Take("DryRun"); dry != "" {
		yes, err := strconv.ParseBool(dry)
		if err != nil {
			return query.BadValue("DryRun", dry, "true or false")
		}
		c.DryRun = yes
	}
	return query.Decode(c.Form, into)
}

// JSON adapts an operation of the JSON protocols. An unknown member is
// refused, so that nothing a client asks for is ignored in silence.
func JSON[R any](answer func(c *Call, in *R) (any, error)) Operation {
	return func(c *Call) (any, error) {
		var in R
		if len(bytes.TrimSpace(c.Body)) > 0 {
			d := json.NewDecoder(bytes.NewReader(c.Body))
			d.DisallowUnknownFields()
			if err := d.Decode(&in); err != nil {
				return nil, awserr.New("SerializationException", "read the request of %s: %v", c.Action, err)
			}
		}
		return answer(c, &in)
	}
}
