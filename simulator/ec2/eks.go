package sim

import (
	"net/http"
	"strings"
	"time"
)

func eksOperations() map[string]operation {
	return map[string]operation{"DescribeCluster": describeCluster}
}

// readPath finds the operation in method and path.
func (c *call) readPath(r *http.Request) error {
	c.path = strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if r.Method == http.MethodGet && len(c.path) == 2 && c.path[0] == "clusters" {
		c.action = "DescribeCluster"
		return nil
	}
	return failf("InvalidRequestException", "ec2sim does not know %s %s of EKS", r.Method, r.URL.Path)
}

// describeCluster describes the one cluster.
// https://docs.aws.amazon.com/eks/latest/APIReference/API_DescribeCluster.html
func describeCluster(s *Server, c *call) (any, error) {
	if c.path[1] != s.cfg.Cluster {
		return nil, failf("ResourceNotFoundException", "No cluster found for name: %s.", c.path[1])
	}
	var subnets []string
	for _, sn := range s.state.subnets {
		subnets = append(subnets, sn.id)
	}
	return map[string]any{"cluster": map[string]any{
		"name": s.cfg.Cluster, "arn": s.arn("eks", "cluster/"+s.cfg.Cluster), "status": "ACTIVE",
		"createdAt": float64(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Unix()),
		"version":   s.cfg.KubernetesVersion, "platformVersion": "eks.1", "endpoint": s.cfg.ClusterEndpoint,
		"roleArn":                 "arn:aws:iam::" + s.cfg.Account + ":role/" + s.cfg.Cluster,
		"certificateAuthority":    map[string]string{"data": s.cfg.ClusterCA},
		"kubernetesNetworkConfig": map[string]string{"serviceIpv4Cidr": "10.100.0.0/16", "ipFamily": "ipv4"},
		"resourcesVpcConfig": map[string]any{
			"vpcId": s.state.vpcID, "subnetIds": subnets, "securityGroupIds": []string{s.state.groups[1].id},
			"clusterSecurityGroupId": s.state.groups[1].id, "endpointPublicAccess": true, "endpointPrivateAccess": true,
		},
		"tags": map[string]string{},
	}}, nil
}
