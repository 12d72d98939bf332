// Package eks is EKS with one cluster that can be described.
package eks

import (
	"net/http"
	"strings"
	"time"

	"spokeshave.dev/simulator/awserr"
	"spokeshave.dev/simulator/ids"
	"spokeshave.dev/simulator/operation"
)

// Cluster is what DescribeCluster tells. CA is base64.
type Cluster struct {
	Name, Version, Endpoint, CA string
	VPC, SecurityGroup          string
	Subnets                     []string
}

// Service is EKS for one account in one region.
type Service struct {
	account ids.Account
	cluster Cluster
}

// New is EKS with one cluster.
func New(account ids.Account, cluster Cluster) *Service { return &Service{account, cluster} }

// Operations are the actions that this service answers.
func (s *Service) Operations() map[string]operation.Operation {
	return map[string]operation.Operation{"DescribeCluster": s.describeCluster}
}

// Route finds the action and its parameters in method and path.
func Route(r *http.Request) (action string, path []string, err error) {
	path = strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if r.Method == http.MethodGet && len(path) == 2 && path[0] == "clusters" {
		return "DescribeCluster", path, nil
	}
	return "", nil, awserr.New("InvalidRequestException", "ec2sim does not know %s %s of EKS", r.Method, r.URL.Path)
}

// describeCluster describes the one cluster.
// https://docs.aws.amazon.com/eks/latest/APIReference/API_DescribeCluster.html
func (s *Service) describeCluster(c *operation.Call) (any, error) {
	if c.Path[1] != s.cluster.Name {
		return nil, awserr.New("ResourceNotFoundException", "No cluster found for name: %s.", c.Path[1])
	}
	return map[string]any{"cluster": map[string]any{
		"name": s.cluster.Name, "arn": s.account.ARN("eks", "cluster/"+s.cluster.Name), "status": "ACTIVE",
		"createdAt": float64(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Unix()),
		"version":   s.cluster.Version, "platformVersion": "eks.1", "endpoint": s.cluster.Endpoint,
		"roleArn":                 s.account.IAM("role/" + s.cluster.Name),
		"certificateAuthority":    map[string]string{"data": s.cluster.CA},
		"kubernetesNetworkConfig": map[string]string{"serviceIpv4Cidr": "10.100.0.0/16", "ipFamily": "ipv4"},
		"resourcesVpcConfig": map[string]any{
			"vpcId": s.cluster.VPC, "subnetIds": s.cluster.Subnets, "securityGroupIds": []string{s.cluster.SecurityGroup},
			"clusterSecurityGroupId": s.cluster.SecurityGroup, "endpointPublicAccess": true, "endpointPrivateAccess": true,
		},
		"tags": map[string]string{},
	}}, nil
}
