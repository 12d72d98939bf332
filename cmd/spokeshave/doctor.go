package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"spokeshave.dev/controller/cloud/catalog"
	"spokeshave.dev/controller/kube/remote"
	"spokeshave.dev/controller/rehearse/author"
	"spokeshave.dev/controller/rehearse/doctor"
	"spokeshave.dev/controller/rehearse/scenario"
)

const doctorHelp = `Doctor looks at a cluster before Spokeshave is installed, and says what runs there,
what stays the same, what differs and whom that concerns, what somebody has to do
first, and what the nodes cost now and would cost. Where Spokeshave runs already, it
says how that does: its version, who holds the leases, which policies fail.

It asks with your own kubeconfig, only reads, and never reads a Secret. What you may
not read is named with the permission that is missing, and the rest is reported. With
-f it reads files in place of a cluster: manifests, a dump of a cluster, or what
spokeshave snapshot wrote. A dump for it:

  kubectl get nodepools,ec2nodeclasses,nodeclaims,nodes,pods,deployments,daemonsets -A -o yaml > cluster.yaml

--iam-policy names the policies of the role that Spokeshave is to have, as JSON; what
they do not allow is listed; ${cluster} and the other variables of
examples/iam/controller-policy.json are filled in. Resource policies, permission boundaries and the
organization's policies are not looked at.

Cost: what NodePools' nodes cost now, what the next step of consolidation saves, and
what all pods would cost on new nodes. The pods of the last hours that the cluster
still knows are replayed; what has gone is not seen, and the report says so. Prices
are those of the embedded catalogue.

Exit codes: 0 nothing to do first, 2 bad input, or a cluster that does not answer,
3 a person has to do something first, 1 a defect.`

// replayedPods is the largest number of pods that are replayed unless --last is given.
const replayedPods = 2000

type doctorFlags struct {
	access   remote.Access
	files    []string
	policies []string
	account  string
	// clusterName is asked for where Karpenter's settings do not tell it.
	clusterName string
	namespace   string
	catalog     string
	region      string
	last        time.Duration
	given       func(flag string) bool
	output      string
}

func doctorCommand(ctx context.Context) *cobra.Command {
	var f doctorFlags
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Say what a swap from Karpenter would meet, and how an installed controller does",
		Long:  doctorHelp,
		Example: `  spokeshave doctor

  # the report as a page, to show to somebody else
  spokeshave doctor -o html > doctor.html

  # may the controller's role do what it has to?
  spokeshave doctor --iam-policy examples/iam/controller-policy.json --cluster-name prod --region eu-west-1

  # without a cluster
  spokeshave doctor -f manifests/ -o json | jq '.findings[]'`,
		Args: arguments(0, 0),
	}
	outputFlag(c, &f.output, "text", "json", "html")
	accessFlags(c, &f.access)
	fs := c.Flags()
	f.given = fs.Changed
	fs.StringArrayVarP(&f.files, "filename", "f", nil, "file or folder to read in place of a cluster; may be repeated")
	fs.StringArrayVar(&f.policies, "iam-policy", nil, "file with an IAM policy of the controller's role, in JSON; may be repeated")
	fs.StringVar(&f.account, "account", "", "number of the AWS account (default: the first that the policies name)")
	fs.StringVar(&f.clusterName, "cluster-name", "", "name of the cluster in AWS, for --iam-policy (default: that of Karpenter's settings)")
	fs.StringVarP(&f.namespace, "controller-namespace", "n", author.Namespace, "namespace of the controller and its policies")
	fs.StringVar(&f.catalog, "catalog", "", "catalogue file, as spokeshave catalog export writes it")
	fs.StringVar(&f.region, "region", "", "region of the embedded catalogue (default: the one the nodes are in, else us-east-1)")
	completeRegions(c)
	fs.DurationVar(&f.last, "last", 24*time.Hour, fmt.Sprintf("how far back pods are replayed; 0 for no replay; more than %d pods only where this flag is given", replayedPods))
	c.RunE = func(c *cobra.Command, _ []string) error { return f.run(ctx, c) }
	return c
}

func (f *doctorFlags) run(ctx context.Context, c *cobra.Command) error {
	bad := func(err error) error { return &exitError{exitBadInput, fmt.Errorf("doctor: %w", err)} }
	switch {
	case f.catalog != "" && f.region != "":
		return bad(errors.New("--catalog and --region exclude each other"))
	case f.last < 0:
		return bad(fmt.Errorf("--last %s: want 0 or more, such as 24h", f.last))
	case len(f.files) > 0 && (f.access.Kubeconfig != "" || f.access.Context != ""):
		return bad(errors.New("-f reads files in place of a cluster: --kubeconfig and --context do not go with it"))
	}
	policies, err := f.documents()
	if err != nil {
		return bad(err)
	}
	counting, err := f.counting()
	if err != nil {
		return bad(err)
	}
	cluster, err := f.cluster(ctx)
	if err != nil {
		return bad(err)
	}
	in := &doctor.Input{
		Time: now(), Cluster: cluster,
		Karpenter: doctor.FindKarpenter(cluster.Deployments), Spokeshave: doctor.FindSpokeshave(cluster.Deployments),
	}
	in.Settings = settingsOf(in.Karpenter)
	if len(policies) > 0 {
		if in.Permissions, err = f.permissions(in, policies); err != nil {
			return bad(err)
		}
	}
	counting.Options.Time, counting.Options.Live = in.Time, cluster.Live
	in.Money, in.MoneyError = doctor.Count(ctx, cluster, counting)
	if err := ctx.Err(); err != nil {
		return bad(err)
	}
	report := doctor.Examine(in)
	if err := f.write(c.OutOrStdout(), report); err != nil {
		return &exitError{exitDefect, err}
	}
	if report.NeedsPerson() > 0 {
		return &exitError{code: exitUnscheduled}
	}
	return nil
}

func (f *doctorFlags) write(w io.Writer, r *doctor.Report) error {
	switch f.output {
	case "json":
		return writeJSON(w, r)
	case "html":
		return r.WriteHTML(w)
	}
	return r.WriteText(w)
}

// counting returns how cost is counted.
func (f *doctorFlags) counting() (doctor.CountConfig, error) {
	out := doctor.CountConfig{Last: f.last, Options: scenario.Options{Region: f.region}}
	if !f.given("last") {
		out.MostPods = replayedPods
	}
	if f.catalog == "" {
		return out, nil
	}
	raw, err := scenario.ReadFile(f.catalog)
	if err != nil {
		return out, err
	}
	read, err := catalog.Read(f.catalog, raw)
	out.Options.Catalog = &read
	return out, err
}
