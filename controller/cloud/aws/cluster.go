package aws

import (
	"context"
	"sync"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"golang.org/x/sync/singleflight"

	"spokeshave.dev/controller/cloud/provider"
)

// clusterEvery is how long what EKS says of the cluster is taken for current;
// clusterRetry is when it is asked again after a failure.
const (
	clusterEvery = 5 * time.Minute
	clusterRetry = time.Minute
)

// cluster is what a node must know of the cluster to join it.
type cluster struct {
	name     string
	endpoint string
	ca       string
	cidr     string
	// version is major.minor of Kubernetes.
	version string
}

type clusterCache struct {
	// asking joins those who need to know while EKS is being asked.
	asking singleflight.Group

	mu    sync.Mutex
	value cluster
	// eks says that the value is what EKS told.
	eks bool
	due time.Time
}

// current is what is known, and whether that holds still.
func (c *clusterCache) current(now time.Time) (known cluster, holds bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.value, now.Before(c.due)
}

// clusterDetails are the configured ones; EKS is asked for those that are not, once
// for all who ask meanwhile, whichever of them gives up.
func (p *Provider) clusterDetails(ctx context.Context) (cluster, error) {
	configured := cluster{
		name: p.cfg.ClusterName, endpoint: p.cfg.ClusterEndpoint, ca: p.cfg.ClusterCA,
		cidr: p.cfg.ServiceCIDR, version: p.cfg.KubernetesVersion,
	}
	if configured.endpoint != "" && configured.ca != "" && configured.cidr != "" && configured.version != "" {
		return configured, nil
	}
	if known, holds := p.cluster.current(p.cfg.Clock()); holds {
		return known, nil
	}
	asked := p.cluster.asking.DoChan("", func() (any, error) {
		alone, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*callTimeout)
		defer cancel()
		return p.askCluster(alone, configured)
	})
	select {
	case answer := <-asked:
		found, _ := answer.Val.(cluster)
		return found, answer.Err
	case <-ctx.Done():
		return cluster{}, refuse(provider.Unavailable, "wait for what EKS tells of cluster %s: %w", configured.name, context.Cause(ctx))
	}
}

// askCluster asks EKS. While that does not answer, what it said before holds. For a
// cluster that EKS does not know, or has not let us describe yet, the API server
// itself tells version and certificate; its address must be configured then.
func (p *Provider) askCluster(ctx context.Context, configured cluster) (cluster, error) {
	c := &p.cluster
	now := p.cfg.Clock()
	known, holds := c.current(now)
	if holds { // somebody was told just before
		return known, nil
	}
	found, err := p.askEKS(ctx, configured)
	told := err == nil
	if !told && !c.eks {
		found, err = p.askAPIServer(ctx, configured, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err != nil && known.version != "":
		p.cfg.Log.Error(err, "keep what is known of the cluster", "retry", clusterRetry.String())
		c.due = now.Add(clusterRetry)
		return known, nil
	case err != nil:
		return cluster{}, err
	}
	c.value, c.eks, c.due = found, told, now.Add(clusterEvery)
	if !told { // it may be that it could not be asked yet
		c.due = now.Add(clusterRetry)
	}
	return found, nil
}

// askEKS fills what is not configured.
func (p *Provider) askEKS(ctx context.Context, in cluster) (cluster, error) {
	out, err := p.sdk.EKS.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: sdk.String(in.name)})
	if err != nil {
		return cluster{}, fault(err, "describe EKS cluster %s", in.name)
	}
	if d := out.Cluster; d != nil {
		fill(&in.endpoint, d.Endpoint)
		fill(&in.version, d.Version)
		if d.CertificateAuthority != nil {
			fill(&in.ca, d.CertificateAuthority.Data)
		}
		if n := d.KubernetesNetworkConfig; n != nil {
			fill(&in.cidr, n.ServiceIpv4Cidr)
			fill(&in.cidr, n.ServiceIpv6Cidr)
		}
	}
	return in, nil
}

// askAPIServer is for clusters that are not EKS's; why is what EKS said, and the
// error where that does not say so.
func (p *Provider) askAPIServer(ctx context.Context, in cluster, why error) (cluster, error) {
	kind := provider.KindOf(why)
	if in.endpoint == "" || p.cfg.APIServer == nil || kind != provider.NotFound && kind != provider.Unauthorized {
		return cluster{}, why
	}
	version, ca, err := p.cfg.APIServer(ctx)
	if err != nil {
		return cluster{}, refuse(provider.Unavailable, "%w; and ask the API server for its version: %w", unkinded(why), err)
	}
	fill(&in.version, &version)
	fill(&in.ca, &ca)
	if known, _ := p.cluster.current(time.Time{}); known.version != in.version {
		p.cfg.Log.Info("the API server tells version and certificate of the cluster, not EKS", "version", version, "reason", why.Error())
	}
	return in, nil
}

func fill(into *string, from *string) {
	if *into == "" {
		*into = sdk.ToString(from)
	}
}
