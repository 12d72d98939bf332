package aws

import (
	"context"
	"sync"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
)

// clusterEvery is how long what EKS says of the cluster is taken for current.
const clusterEvery = 5 * time.Minute

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
	mu    sync.Mutex
	value cluster
	due   time.Time
}

// clusterDetails are the configured ones; EKS is asked for those that are not.
func (p *Provider) clusterDetails(ctx context.Context) (cluster, error) {
	configured := cluster{
		name: p.cfg.ClusterName, endpoint: p.cfg.ClusterEndpoint, ca: p.cfg.ClusterCA,
		cidr: p.cfg.ServiceCIDR, version: p.cfg.KubernetesVersion,
	}
	if configured.endpoint != "" && configured.ca != "" && configured.cidr != "" && configured.version != "" {
		return configured, nil
	}
	c := &p.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	now := p.cfg.Clock()
	if now.Before(c.due) {
		return c.value, nil
	}
	out, err := p.sdk.EKS.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: sdk.String(p.cfg.ClusterName)})
	if err != nil {
		return cluster{}, fault(err, "describe EKS cluster %s (or configure endpoint, certificate, service range and version)", p.cfg.ClusterName)
	}
	fill := func(into *string, from *string) {
		if *into == "" {
			*into = sdk.ToString(from)
		}
	}
	if d := out.Cluster; d != nil {
		fill(&configured.endpoint, d.Endpoint)
		fill(&configured.version, d.Version)
		if d.CertificateAuthority != nil {
			fill(&configured.ca, d.CertificateAuthority.Data)
		}
		if n := d.KubernetesNetworkConfig; n != nil {
			fill(&configured.cidr, n.ServiceIpv4Cidr)
			fill(&configured.cidr, n.ServiceIpv6Cidr)
		}
	}
	c.value, c.due = configured, now.Add(clusterEvery)
	return configured, nil
}
