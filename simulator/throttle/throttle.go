// Package throttle is EC2's request throttling: a token bucket for each action,
// whose size and refill depend on the class of the action, and buckets of
// resources for launches and terminations.
// https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-throttling.html
package throttle

import (
	"strings"
	"time"
)

// Rate is a bucket's size in tokens, and how many tokens a second refill it.
type Rate struct{ Size, Refill float64 }

// read is the rate of actions that change nothing, unfiltered that of reads of
// everything, write that of all others. Rates are those of the page above.
func read() Rate       { return Rate{100, 20} }
func unfiltered() Rate { return Rate{50, 10} }
func write() Rate      { return Rate{50, 5} }

// own are the rates of actions that belong to no class.
func own() map[string]Rate {
	return map[string]Rate{
		"CreateLaunchTemplateVersion": {100, 5},
		"RunInstances":                {5, 2},
		"TerminateInstances":          {100, 5},
	}
}

// resources are the buckets of which a call takes as many tokens as instances.
func resources() map[string]Rate {
	return map[string]Rate{"RunInstances": {1000, 2}, "TerminateInstances": {1000, 20}}
}

// narrow are the reads that draw on a smaller bucket when they ask for neither a
// filter nor a page.
func narrow() []string {
	return []string{"DescribeInstances", "DescribeInstanceStatus", "DescribeSecurityGroups", "DescribeVolumes"}
}

// bucket holds tokens as of a time.
type bucket struct {
	tokens float64
	at     time.Time
}

// Buckets are those of one account in one region, which begin full. It is not
// safe for concurrent use.
type Buckets struct{ all map[string]*bucket }

// Call is what throttling looks at.
type Call struct {
	Action string
	// Narrowed says that a filter or a page was asked for.
	Narrowed bool
	// Instances is how many a launch or termination is about.
	Instances int
}

// Take takes the call's tokens, and says whether there were enough. A call that
// is refused takes none.
func (b *Buckets) Take(c Call, now time.Time) bool {
	name, rate := classOf(c)
	request := b.bucket(name, rate, now)
	if request.tokens < 1 {
		return false
	}
	if r, ok := resources()[c.Action]; ok && c.Instances > 0 {
		resource := b.bucket("resources of "+c.Action, r, now)
		if resource.tokens < float64(c.Instances) {
			return false
		}
		resource.tokens -= float64(c.Instances)
	}
	request.tokens--
	return true
}

// classOf names the bucket that a call draws on.
func classOf(c Call) (name string, rate Rate) {
	if r, ok := own()[c.Action]; ok {
		return c.Action, r
	}
	if !strings.HasPrefix(c.Action, "Describe") {
		return c.Action, write()
	}
	if !c.Narrowed {
		for _, action := range narrow() {
			if action == c.Action {
				return action + " of everything", unfiltered()
			}
		}
	}
	return c.Action, read()
}

func (b *Buckets) bucket(name string, rate Rate, now time.Time) *bucket {
	if b.all == nil {
		b.all = make(map[string]*bucket)
	}
	found := b.all[name]
	if found == nil {
		found = &bucket{tokens: rate.Size, at: now}
		b.all[name] = found
	}
	found.tokens = min(rate.Size, found.tokens+now.Sub(found.at).Seconds()*rate.Refill)
	found.at = now
	return found
}
