package sim

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// reads adapts a query operation that changes nothing: a dry run of it succeeds
// once its parameters are understood.
func reads[R any](answer func(s *Server, c *call, in *R) (any, error)) operation {
	return func(s *Server, c *call) (any, error) {
		var in R
		if err := c.decode(&in); err != nil {
			return nil, err
		}
		if c.dryRun {
			return nil, errDryRun()
		}
		return answer(s, c, &in)
	}
}

// writes adapts a query operation that heeds call.dryRun itself, after it has
// checked the request and before it changes anything.
func writes[R any](answer func(s *Server, c *call, in *R) (any, error)) operation {
	return func(s *Server, c *call) (any, error) {
		var in R
		if err := c.decode(&in); err != nil {
			return nil, err
		}
		return answer(s, c, &in)
	}
}

func (c *call) decode(into any) error {
	if c.form == nil {
		return failf(codeInvalidQuery, "the action %s takes form parameters", c.action)
	}
	if dry := c.form.take("DryRun"); dry != "" {
		yes, err := strconv.ParseBool(dry)
		if err != nil {
			return badValue("DryRun", dry, "true or false")
		}
		c.dryRun = yes
	}
	return decode(c.form, into)
}

// takesJSON adapts an operation of the JSON protocols. An unknown member is
// refused, so that nothing a client asks for is ignored in silence.
func takesJSON[R any](answer func(s *Server, c *call, in *R) (any, error)) operation {
	return func(s *Server, c *call) (any, error) {
		var in R
		if len(bytes.TrimSpace(c.body)) > 0 {
			d := json.NewDecoder(bytes.NewReader(c.body))
			d.DisallowUnknownFields()
			if err := d.Decode(&in); err != nil {
				return nil, failf("SerializationException", "read the request of %s: %v", c.action, err)
			}
		}
		return answer(s, c, &in)
	}
}
