package resolve

import (
	"context"
	"sync"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/go-logr/logr"
	"golang.org/x/sync/singleflight"

	"spokeshave.dev/controller/cloud/aws/bootstrap"
	"spokeshave.dev/controller/cloud/aws/client"
	"spokeshave.dev/controller/cloud/provider"
)

// clusterEvery is how long what EKS says of the cluster is taken for current;
// clusterRetry is when it is asked again after a failure.
const (
	clusterEvery = 5 * time.Minute
	clusterRetry = time.Minute
)

// Cluster knows what nodes must be told of the cluster to join it.
type Cluster struct {
	EKS client.EKS
	// Configured is what is not asked for; its Name is needed.
	Configured bootstrap.Cluster
	// APIServer tells the version ("1.36") and the CA (base64) of the API server
	// that the controller itself talks to, for clusters that EKS does not know. Nil
	// is not asked.
	APIServer func(ctx context.Context) (version, ca string, err error)
	// DNS finds the address of the cluster's DNS service, "" when there is none. Nil is not
	// asked.
	DNS   func(ctx context.Context) (string, error)
	Clock func() time.Time
	Log   logr.Logger

	// asking joins those who need to know while EKS is being asked.
	asking singleflight.Group

	mu    sync.Mutex
	value bootstrap.Cluster
	// eks says that the value is what EKS told.
	eks bool
	due time.Time
}

// current is what is known, and whether that holds still.
func (c *Cluster) current(now time.Time) (known bootstrap.Cluster, holds bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.value, now.Before(c.due)
}

// Details are the configured ones; EKS is asked for those that are not, once
// for all who ask meanwhile, whichever of them gives up.
func (c *Cluster) Details(ctx context.Context) (bootstrap.Cluster, error) {
	configured := c.Configured
	if complete(&configured) && c.DNS == nil {
		return configured, nil
	}
	if known, holds := c.current(c.Clock()); holds {
		return known, nil
	}
	asked := c.asking.DoChan("", func() (any, error) {
		alone, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*client.CallTimeout)
		defer cancel()
		return c.askCluster(alone, configured)
	})
	select {
	case answer := <-asked:
		found, _ := answer.Val.(bootstrap.Cluster)
		return found, answer.Err
	case <-ctx.Done():
		return bootstrap.Cluster{}, client.Refuse(provider.Unavailable, "wait for what EKS tells of cluster %s: %w", configured.Name, context.Cause(ctx))
	}
}

// complete says that EKS need not be asked.
func complete(in *bootstrap.Cluster) bool {
	return in.Endpoint != "" && in.CA != "" && in.ServiceCIDR != "" && in.Version != ""
}

// findDNS asks for the address of the cluster's DNS. While that is not answered, what was
// known holds: kubelets know the address that EKS itself gives.
func (c *Cluster) findDNS(ctx context.Context, known string) string {
	if c.DNS == nil {
		return known
	}
	found, err := c.DNS(ctx)
	if err != nil {
		c.Log.Error(err, "find the address of the cluster's DNS; nodes use what is known", "known", known)
		return known
	}
	return found
}

// askCluster asks EKS. While that does not answer, what it said before holds. For a
// cluster that EKS does not know, or has not let us describe yet, the API server
// itself tells version and certificate; its address must be configured then.
func (c *Cluster) askCluster(ctx context.Context, configured bootstrap.Cluster) (bootstrap.Cluster, error) {
	now := c.Clock()
	known, holds := c.current(now)
	if holds { // somebody was told just before
		return known, nil
	}
	found, err := configured, error(nil)
	if !complete(&configured) {
		found, err = c.askEKS(ctx, configured)
	}
	told := err == nil
	if !told && !c.eks {
		found, err = c.askAPIServer(ctx, configured, err)
	}
	if err == nil {
		found.DNS = c.findDNS(ctx, known.DNS)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err != nil && known.Version != "":
		c.Log.Error(err, "keep what is known of the cluster", "retry", clusterRetry.String())
		c.due = now.Add(clusterRetry)
		return known, nil
	case err != nil:
		return bootstrap.Cluster{}, err
	}
	c.value, c.eks, c.due = found, told, now.Add(clusterEvery)
	if !told { // it may be that it could not be asked yet
		c.due = now.Add(clusterRetry)
	}
	return found, nil
}

// askEKS fills what is not configured.
func (c *Cluster) askEKS(ctx context.Context, in bootstrap.Cluster) (bootstrap.Cluster, error) {
	out, err := c.EKS.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: sdk.String(in.Name)})
	if err != nil {
		return bootstrap.Cluster{}, client.Fault(err, "describe EKS cluster %s", in.Name)
	}
	if d := out.Cluster; d != nil {
		fill(&in.Endpoint, d.Endpoint)
		fill(&in.Version, d.Version)
		if d.CertificateAuthority != nil {
			fill(&in.CA, d.CertificateAuthority.Data)
		}
		if n := d.KubernetesNetworkConfig; n != nil {
			fill(&in.ServiceCIDR, n.ServiceIpv4Cidr)
			fill(&in.ServiceCIDR, n.ServiceIpv6Cidr)
		}
	}
	return in, nil
}

// askAPIServer is for clusters that are not EKS's; why is what EKS said, and the
// error where that does not say so.
func (c *Cluster) askAPIServer(ctx context.Context, in bootstrap.Cluster, why error) (bootstrap.Cluster, error) {
	kind := provider.KindOf(why)
	if in.Endpoint == "" || c.APIServer == nil || kind != provider.NotFound && kind != provider.Unauthorized {
		return bootstrap.Cluster{}, why
	}
	version, ca, err := c.APIServer(ctx)
	if err != nil {
		return bootstrap.Cluster{}, client.Refuse(provider.Unavailable, "%w; and ask the API server for its version: %w", client.Unkinded(why), err)
	}
	fill(&in.Version, &version)
	fill(&in.CA, &ca)
	if known, _ := c.current(time.Time{}); known.Version != in.Version {
		c.Log.Info("the API server tells version and certificate of the cluster, not EKS", "version", version, "reason", why.Error())
	}
	return in, nil
}

func fill(into *string, from *string) {
	if *into == "" {
		*into = sdk.ToString(from)
	}
}

// Version is the cluster's version of Kubernetes, major.minor.
func (c *Cluster) Version(ctx context.Context) (string, error) {
	details, err := c.Details(ctx)
	return details.Version, err
}
