package joiner

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"spokeshave.dev/controller/cloud/catalog"
)

// EC2 is what the joiner asks of EC2. *ec2.Client implements it.
type EC2 interface {
	DescribeInstances(context.Context, *ec2.DescribeInstancesInput, ...func(*ec2.Options)) (*ec2.DescribeInstancesOutput, error)
	DescribeInstanceAttribute(context.Context, *ec2.DescribeInstanceAttributeInput, ...func(*ec2.Options)) (*ec2.DescribeInstanceAttributeOutput, error)
	DescribeVolumes(context.Context, *ec2.DescribeVolumesInput, ...func(*ec2.Options)) (*ec2.DescribeVolumesOutput, error)
}

// Config says whose instances join which cluster.
type Config struct {
	EC2 EC2
	// Kubernetes is the API server, with rights to create and delete nodes.
	Kubernetes *rest.Config
	// Cluster is the name in the tag kubernetes.io/cluster/<name> by which
	// instances are found.
	Cluster string
	Region  string
	// Types tell what the hardware of each instance type has.
	Types []catalog.Type
	// BootDelay is from running to the Node's registration.
	BootDelay time.Duration
	// RemoveDelay is from the instance's end to the removal of its Node, unless
	// somebody removes it earlier.
	RemoveDelay time.Duration
	// Poll is how often EC2 is asked; half a second unless set.
	Poll time.Duration
	// KubeletVersion is what the Nodes report; v1.36.3 unless set.
	KubeletVersion string
	// Clock is the real one, and Log discards, unless set.
	Clock clock.Clock
	Log   *slog.Logger
}

func (c *Config) setDefaults() error {
	switch {
	case c.EC2 == nil:
		return errors.New("configure the joiner: no EC2 client")
	case c.Kubernetes == nil:
		return errors.New("configure the joiner: no Kubernetes API server")
	case c.Cluster == "" || c.Region == "":
		return errors.New("configure the joiner: cluster and region must be named")
	case len(c.Types) == 0:
		return errors.New("configure the joiner: no instance types")
	}
	if c.Poll <= 0 {
		c.Poll = 500 * time.Millisecond
	}
	if c.KubeletVersion == "" {
		c.KubeletVersion = "v1.36.3"
	}
	if c.Clock == nil {
		c.Clock = clock.RealClock{}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return nil
}
