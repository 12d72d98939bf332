package dryrun

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/client"
	"spokeshave.dev/controller/cloud/aws/fleet"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

// How long an answer holds while the requests stay the same, and how long one class may be
// asked about.
const (
	AllowedFor = 30 * time.Minute
	RefusedFor = 2 * time.Minute
	askWithin  = 20 * time.Second
)

// Refusal is what EC2 says that the controller may not do.
type Refusal struct {
	// Reason is one of the reasons in api/aws/v1.
	Reason  string
	Message string
}

// Config is what a Checker works with. All fields are needed.
type Config struct {
	EC2   client.EC2
	Clock func() time.Time
	// Catalog is what a class can launch.
	Catalog func(*awsv1.EC2NodeClass) (model.Catalog, error)
	// Example makes the requests of a launch without sending them.
	Example func(context.Context, *awsv1.EC2NodeClass, model.Option) (*fleet.Example, error)
	// Make makes the launch template of a request unless it exists; class is the name of
	// its class.
	Make func(ctx context.Context, class string, in *ec2.CreateLaunchTemplateInput) error
}

// Checker asks about classes and remembers the answers. Make it with New. It may be used by
// several goroutines.
type Checker struct {
	cfg Config

	mu sync.Mutex
	// answers are by the name of the class.
	answers map[string]answer
}

// answer is what EC2 said of the last requests of a class.
type answer struct {
	// requests is a digest of what was asked.
	requests string
	// refusal is nil when all was allowed.
	refusal *Refusal
	until   time.Time
}

// New makes a Checker.
func New(cfg Config) *Checker {
	return &Checker{cfg: cfg, answers: map[string]answer{}}
}

// Last is the last answer about a class: nil when its launches are allowed. known is false
// when EC2 has not answered.
func (c *Checker) Last(class string) (refusal *Refusal, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a, known := c.answers[class]
	return a.refusal, known
}

// Forget drops what is known of a class.
func (c *Checker) Forget(class string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.answers, class)
}

// Ask asks about a class whose status is resolved, unless an answer to the same requests
// still holds. Pools are the requirements of the NodePools that use the class. An error
// means that EC2 did not say whether it allows them: an answer to other requests is dropped
// then, and one to the same requests kept, unless EC2 now refuses them for another reason.
func (c *Checker) Ask(ctx context.Context, class *awsv1.EC2NodeClass, pools [][]model.Requirement) error {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	example, err := c.example(ctx, class, pools)
	if err != nil {
		return fmt.Errorf("dry run of a launch from EC2NodeClass %s: %w", class.Name, err)
	}
	requests, err := digest(example)
	if err != nil {
		return fmt.Errorf("dry run of a launch from EC2NodeClass %s: %w", class.Name, err)
	}
	if c.holds(class.Name, requests) {
		return nil
	}
	refusal, err := c.send(ctx, class.Name, example)
	if err != nil {
		c.unanswered(class.Name, requests, err)
		return fmt.Errorf("dry run of a launch from EC2NodeClass %s: %w", class.Name, err)
	}
	until := c.cfg.Clock().Add(AllowedFor)
	if refusal != nil {
		until = c.cfg.Clock().Add(RefusedFor)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers[class.Name] = answer{requests: requests, refusal: refusal, until: until}
	return nil
}

// holds reports whether the answer to the requests is known and not too old.
func (c *Checker) holds(class, requests string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	a, known := c.answers[class]
	return known && a.requests == requests && c.cfg.Clock().Before(a.until)
}

// unanswered keeps the answer to the same requests, unless err says that they are wrong
// apart from permissions: they are not what is refused any more.
func (c *Checker) unanswered(class, requests string, err error) {
	kind := provider.KindOf(err)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answers[class].requests != requests || kind.Definitive() && kind != provider.Unauthorized {
		delete(c.answers, class)
	}
}

// digest tells requests apart by all that they contain.
func digest(e *fleet.Example) (string, error) {
	raw, err := json.Marshal(e)
	if err != nil {
		return "", fmt.Errorf("encode the requests: %w", err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), nil
}
