package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	"spokeshave.dev/cmd/ec2sim/sim"
	"spokeshave.dev/controller/catalog"
)

// options are the command's flags.
type options struct {
	listen, log string
	sim         sim.Config
	clusterCA   string
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

What it does can be watched and changed under /_sim/ (JSON):

  GET  /_sim/state       instances, price per hour, requests by action and error
  GET  /_sim/requests    the last requests with their parameters
  POST /_sim/faults      order a fault; GET lists, DELETE takes all back
         {"action":"CreateFleet","offering":{"type":"m5.large","capacityType":"spot"},
          "code":"InsufficientInstanceCapacity","forever":true}
         {"action":"DescribeInstances","code":"RequestLimitExceeded","count":3}
         {"action":"CreateFleet","afterSuccess":true}      takes effect, then cuts the line
         {"latency":"2s","forever":true}
  POST /_sim/interrupt   {"instanceId":"i-…","kind":"spot"}  kinds: spot rebalance scheduled stopped terminated
  POST /_sim/status      {"instanceId":"i-…","check":"system","impaired":true}
  POST /_sim/prices      [{"type":"m5.large","zone":"us-west-2a","capacityType":"spot","usd":0.5}]
  POST /_sim/capacity    [{"type":"m5.large","zone":"us-west-2a","capacityType":"spot","free":3}]
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
	f.StringVar(&o.sim.NodeRole, "node-role", "", "the IAM role that exists (default KarpenterNodeRole-<cluster name>)")
	f.Uint64Var(&o.sim.Seed, "seed", 1, "makes identifiers, addresses and spot capacity")
	f.DurationVar(&o.sim.PendingDelay, "pending-delay", 2*time.Second, "from launch to running")
	f.DurationVar(&o.sim.ShutdownDelay, "shutdown-delay", 2*time.Second, "from the call to terminated")
	f.DurationVar(&o.sim.Lag, "lag", 0, "how long Describe calls miss a new instance (eventual consistency)")
	f.IntVar(&o.sim.FleetAttempts, "fleet-attempts", 0, "pools a fleet tries before it reports the rest as UnfulfillableCapacity; 0 is all")
	f.IntVar(&o.sim.OnDemandVCPUs, "on-demand-vcpus", 0, "quota of on-demand vCPUs; 0 is none")
	f.IntVar(&o.sim.SpotVCPUs, "spot-vcpus", 0, "quota of spot vCPUs; 0 is none")
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
	server, err := sim.New(o.sim)
	if err != nil {
		return err
	}
	var listen net.ListenConfig
	listener, err := listen.Listen(ctx, "tcp", o.listen)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", o.listen, err)
	}
	log.Info("ec2sim serves", "endpoint", "http://"+listener.Addr().String(), "region", o.sim.Region, "cluster", o.sim.Cluster, "types", len(o.sim.Types))
	return serve(ctx, listener, server)
}

// serve answers until the context ends.
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
