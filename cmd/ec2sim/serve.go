package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"spokeshave.dev/controller/cloud/catalog"
	"spokeshave.dev/simulator"
	"spokeshave.dev/simulator/iam/policy"
	"spokeshave.dev/simulator/joiner"
)

// options are the command's flags.
type options struct {
	listen, log string
	sim         simulator.Config
	clusterCA   string
	policies    []string
	joiner      bool
	kubeconfig  string
	bootDelay   time.Duration
	removeDelay time.Duration
}

const long = `ec2sim answers the EC2, IAM, STS, SSM, SQS, Pricing and EKS calls of a node
autoscaler on one port. The AWS SDKs talk to it as to AWS:

  ec2sim --listen 127.0.0.1:4566 --region us-west-2 --cluster-name demo &
  export AWS_ENDPOINT_URL=http://127.0.0.1:4566 AWS_REGION=us-west-2
  export AWS_ACCESS_KEY_ID=any AWS_SECRET_ACCESS_KEY=any

There is a VPC with a subnet in each zone and a security group, tagged
karpenter.sh/discovery=<cluster name>; the EKS optimized images with their SSM
parameters; an IAM role; and a queue named like the cluster. Types and prices
are those of the embedded catalogue. It forgets everything when it ends.

With --joiner it also plays what boots on the instances: a Node for each running
instance after --boot-delay, with the labels, taints and capacity that its user
data and type call for, and the Node's removal after the instance's end. KWOK
plays kubelet for Nodes labelled spokeshave.dev/kwok=true.

With --iam-policy calls are refused as IAM refuses what the policy does not allow:
Action, Resource and Condition are evaluated, and the refusal says why in words
and in an encoded message that sts decode-authorization-message reads. ${cluster} and
the other variables of examples/iam/controller-policy.json stand for the names here.

What it does can be watched and changed under /_sim/ (JSON):

  GET  /_sim/state       instances, price per hour, requests by action and error
  GET  /_sim/requests    the last requests with their parameters
  POST /_sim/faults      order a fault; GET lists, DELETE takes all back
         {"action":"CreateFleet","offering":{"type":"m5.large","capacityType":"spot"},
          "code":"InsufficientInstanceCapacity","forever":true}
         {"action":"DescribeInstances","code":"RequestLimitExceeded","count":3}
         {"action":"CreateFleet","afterSuccess":true}      takes effect, then cuts the line
         {"action":"CreateTags","skip":10,"cut":true}      the eleventh call
         {"latency":"2s","forever":true}
  POST /_sim/interrupt   {"instanceId":"i-…","kind":"spot"}  kinds: spot rebalance scheduled stopped terminated
  POST /_sim/status      {"instanceId":"i-…","check":"system","impaired":true}
  POST /_sim/prices      [{"type":"m5.large","zone":"us-west-2a","capacityType":"spot","usd":0.5}]
  POST /_sim/capacity    [{"type":"m5.large","zone":"us-west-2a","capacityType":"spot","free":3}]
  POST /_sim/reservations [{"type":"m5.large","zone":"us-west-2a","count":3,"kind":"default","tags":{"a":"b"}}]
  POST /_sim/placementgroups [{"name":"close"}]
  POST /_sim/settings    {"lag":"2s","pendingDelay":"10s","shutdownDelay":"5s"}
  POST /_sim/reset       begin anew`

func command() *cobra.Command {
	var o options
	c := &cobra.Command{
		Use: "ec2sim", Short: "An EC2-compatible endpoint for demonstrations and tests", Long: long,
		Args: cobra.NoArgs, SilenceUsage: true, SilenceErrors: true,
		RunE: func(c *cobra.Command, _ []string) error { return o.run(c.Context()) },
	}
	f := c.Flags()
	f.StringVar(&o.listen, "listen", "127.0.0.1:4566", "address to serve on; port 0 takes a free one")
	f.StringVar(&o.sim.Region, "region", "us-west-2", "region to pretend to be, one of the embedded catalogue")
	f.StringVar(&o.sim.Account, "account", "123456789012", "AWS account ID")
	f.StringVar(&o.sim.Cluster, "cluster-name", "spokeshave", "EKS cluster, discovery tag and queue")
	f.StringVar(&o.sim.ClusterEndpoint, "cluster-endpoint", "", "API server URL that DescribeCluster tells")
	f.StringVar(&o.clusterCA, "cluster-ca", "", "base64 of the API server's CA that DescribeCluster tells")
	f.StringVar(&o.sim.KubernetesVersion, "kubernetes-version", "1.36", "version of the cluster and its images")
	f.StringSliceVar(&o.sim.NodeRoles, "node-role", nil, "IAM roles that exist (default KarpenterNodeRole-<cluster name>)")
	f.Uint64Var(&o.sim.Seed, "seed", 1, "makes identifiers, addresses and spot capacity")
	f.DurationVar(&o.sim.PendingDelay, "pending-delay", 2*time.Second, "from launch to running")
	f.DurationVar(&o.sim.ShutdownDelay, "shutdown-delay", 2*time.Second, "from the call to terminated")
	f.DurationVar(&o.sim.Latency, "latency", 5*time.Millisecond, "spent on every request; the AWS SDK for Go loses answers that come at once")
	f.DurationVar(&o.sim.Lag, "lag", 0, "how long Describe calls miss a new instance (eventual consistency)")
	f.IntVar(&o.sim.FleetAttempts, "fleet-attempts", 0, "pools a fleet tries before it reports the rest as UnfulfillableCapacity; 0 is all")
	f.IntVar(&o.sim.OnDemandVCPUs, "on-demand-vcpus", 0, "quota of on-demand vCPUs; 0 is none")
	f.IntVar(&o.sim.SpotVCPUs, "spot-vcpus", 0, "quota of spot vCPUs; 0 is none")
	f.IntVar(&o.sim.Limits.SubnetPrefix, "subnet-prefix", 19, "length of the subnets' prefixes, 19 to 28 (11 free addresses)")
	f.IntVar(&o.sim.Limits.LaunchTemplates, "launch-templates", 0, "quota of launch templates; 0 is none, AWS's is 5000")
	f.IntVar(&o.sim.Limits.TemplateVersions, "launch-template-versions", 0, "quota of versions of a launch template; 0 is none, AWS's is 10000")
	f.BoolVar(&o.sim.Throttle, "throttle", false, "refuse calls to EC2 beyond its documented request rates")
	f.DurationVar(&o.sim.Limits.TagLag, "tag-lag", 0, "how long Describe calls show a new instance without its tags")
	f.DurationVar(&o.sim.Limits.SpotPeriod, "spot-period", 0, "how often spot capacity moves, so that one pool in ten gives nothing; 0 is never")
	f.StringArrayVar(&o.policies, "iam-policy", nil, "JSON file of an identity-based policy, several of which add up; calls that they do not allow are refused (default everything is allowed)")
	f.BoolVar(&o.joiner, "joiner", false, "register a Node for each running instance")
	f.StringVar(&o.kubeconfig, "kubeconfig", os.Getenv("KUBECONFIG"), "the cluster that instances join, and that DescribeCluster tells")
	f.DurationVar(&o.bootDelay, "boot-delay", 3*time.Second, "from running to the Node's registration")
	f.DurationVar(&o.removeDelay, "remove-delay", 10*time.Second, "from an instance's end to the removal of its Node")
	f.StringVar(&o.log, "log", "info", "debug (each request), info, warn or error")
	return c
}

func (o *options) run(ctx context.Context) error {
	var level slog.Level
	if err := level.UnmarshalText([]byte(o.log)); err != nil {
		return fmt.Errorf("read --log: %w", err)
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
	o.sim.Log, o.sim.ClusterCA = log, o.clusterCA
	var err error
	if o.sim.Types, o.sim.Sales, err = catalog.Load(o.sim.Region); err != nil {
		return err
	}
	if err := o.readPolicies(); err != nil {
		return err
	}
	cluster, err := o.cluster()
	if err != nil {
		return err
	}
	server, err := simulator.New(o.sim)
	if err != nil {
		return err
	}
	var listen net.ListenConfig
	listener, err := listen.Listen(ctx, "tcp", o.listen)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", o.listen, err)
	}
	endpoint := "http://" + listener.Addr().String()
	log.Info("ec2sim serves", "endpoint", endpoint, "region", o.sim.Region, "cluster", o.sim.Cluster, "types", len(o.sim.Types))
	work, ctx := errgroup.WithContext(ctx)
	work.Go(func() error { return serve(ctx, listener, server) })
	if o.joiner {
		work.Go(func() error { return joiner.Run(ctx, o.join(endpoint, cluster)) })
	}
	return work.Wait()
}

// readPolicies reads the IAM policies that apply to every caller but the joiner, with the
// endpoint's names in place of the variables of examples/iam/controller-policy.json.
func (o *options) readPolicies() error {
	role := "KarpenterNodeRole-" + o.sim.Cluster
	if len(o.sim.NodeRoles) > 0 {
		role = o.sim.NodeRoles[0]
	}
	names := policy.Names{
		Partition: "aws", Region: o.sim.Region, Account: o.sim.Account, Cluster: o.sim.Cluster, Queue: o.sim.Cluster,
		NodeRole: "arn:aws:iam::" + o.sim.Account + ":role/" + role,
	}
	for _, file := range o.policies {
		text, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("read --iam-policy: %w", err)
		}
		p, err := policy.Parse([]byte(names.Fill(string(text))))
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		o.sim.Policies = append(o.sim.Policies, p)
	}
	return nil
}

// cluster reads the kubeconfig. Unless flags override them, DescribeCluster then
// returns the address and CA in it. The result is nil when no kubeconfig is given.
func (o *options) cluster() (*rest.Config, error) {
	if o.kubeconfig == "" {
		if o.joiner {
			return nil, errors.New("--joiner needs --kubeconfig, the cluster to join")
		}
		return nil, nil //nolint:nilnil // no cluster is a normal setting
	}
	cluster, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig %s: %w", o.kubeconfig, err)
	}
	if err := rest.LoadTLSFiles(cluster); err != nil {
		return nil, fmt.Errorf("read kubeconfig %s: %w", o.kubeconfig, err)
	}
	if o.sim.ClusterEndpoint == "" {
		o.sim.ClusterEndpoint = cluster.Host
	}
	if o.sim.ClusterCA == "" {
		o.sim.ClusterCA = base64.StdEncoding.EncodeToString(cluster.CAData)
	}
	return cluster, nil
}

// join returns the joiner's configuration: the joiner finds instances through the EC2
// endpoint, like any client.
func (o *options) join(endpoint string, cluster *rest.Config) joiner.Config {
	client := ec2.New(ec2.Options{
		Region: o.sim.Region, BaseEndpoint: &endpoint,
		Credentials: credentials.NewStaticCredentialsProvider(simulator.JoinerKey, "joiner", ""),
	})
	return joiner.Config{
		EC2: client, Kubernetes: cluster, Cluster: o.sim.Cluster, Region: o.sim.Region, Types: o.sim.Types,
		BootDelay: o.bootDelay, RemoveDelay: o.removeDelay, KubeletVersion: "v" + o.sim.KubernetesVersion + ".0", Log: o.sim.Log,
	}
}

// serve serves requests until the context ends.
func serve(ctx context.Context, listener net.Listener, handler http.Handler) error {
	h := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	stopped := make(chan error, 1)
	go func() {
		<-ctx.Done()
		stopped <- h.Close()
	}()
	if err := h.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve on %s: %w", listener.Addr(), err)
	}
	return <-stopped
}
