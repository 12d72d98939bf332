package simulator

import (
	"strconv"

	"spokeshave.dev/simulator/awserr"
	"spokeshave.dev/simulator/operation"
	"spokeshave.dev/simulator/throttle"
)

// throttle refuses a call to EC2 beyond the request rates, when they are asked
// for. Those who play the machines are not counted.
func (w *world) throttle(cfg *Config, c *operation.Call) error {
	if !cfg.Throttle || c.Service != "ec2" || c.AccessKey == JoinerKey || c.Form == nil {
		return nil
	}
	call := throttle.Call{Action: c.Action, Narrowed: c.Form.At("Filter") != nil || c.Form.At("MaxResults") != nil}
	switch c.Action {
	case "RunInstances":
		if n, err := strconv.Atoi(c.Form.Text("MaxCount")); err == nil {
			call.Instances = n
		}
	case "TerminateInstances":
		if ids := c.Form.At("InstanceId"); ids != nil {
			call.Instances = ids.Len()
		}
	}
	if w.buckets.Take(call, c.Now) {
		return nil
	}
	return awserr.New(awserr.Throttled, "Request limit exceeded.")
}
