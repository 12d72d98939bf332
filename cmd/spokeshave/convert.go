package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"spokeshave.dev/controller/rehearse/convert"
	"spokeshave.dev/controller/rehearse/scenario"
)

const convertHelp = `Convert makes NodePools and EC2NodeClasses of node groups, for a move from Cluster
Autoscaler. It reads, in any combination:

  aws autoscaling describe-auto-scaling-groups            Auto Scaling groups
  aws ec2 describe-launch-template-versions               the launch templates that they use
  aws eks describe-nodegroup                              a managed node group
  eksctl's ClusterConfig                                  all groups of the file

and writes manifests: the sizes become a limit, instance types, zones and capacity types become
requirements, and labels, taints, images, disks, subnets, security groups, role and
tags stay what they are. Whatever has no counterpart is a comment above the NodePool; a comment that
begins with TO DO has to be looked at before nodes can be launched. Nothing is asked of AWS
or of a cluster, and nothing is changed.

Exit codes: 0 manifests that can be applied, 3 a TO DO is among them, 2 bad input, 1 a defect.`

type convertFlags struct {
	files   []string
	options convert.Options
	output  string
}

func convertCommand() *cobra.Command {
	var f convertFlags
	c := &cobra.Command{
		Use:   "convert",
		Short: "Make NodePools and EC2NodeClasses of node groups",
		Long:  convertHelp,
		Example: `  # what eksctl made
  spokeshave convert -f groups.yaml > nodepools.yaml

  # Auto Scaling groups and their launch templates
  aws autoscaling describe-auto-scaling-groups --output json > groups.json
  aws ec2 describe-launch-template-versions --versions '$Latest' '$Default' --output json > templates.json
  spokeshave convert -f groups.json -f templates.json --cluster-name prod --role prod-nodes > nodepools.yaml

  # what would the workloads of a cluster cost on them?
  kubectl get deployments,statefulsets,daemonsets -A -o yaml > workloads.yaml
  spokeshave simulate -f nodepools.yaml -f workloads.yaml`,
		Args: arguments(0, 0),
	}
	outputFlag(c, &f.output, "yaml", "json")
	fs := c.Flags()
	fs.StringArrayVarP(&f.files, "filename", "f", nil, "file with node groups or launch templates; may be repeated")
	fs.StringVar(&f.options.Cluster, "cluster-name", "", "name of the cluster in AWS (default: the one that a group's document names)")
	fs.StringVar(&f.options.Role, "role", "", "name of the nodes' IAM role, for groups whose documents do not name one")
	c.RunE = func(c *cobra.Command, _ []string) error { return f.run(c) }
	return c
}

func (f *convertFlags) run(c *cobra.Command) error {
	bad := func(err error) error { return &exitError{exitBadInput, fmt.Errorf("convert: %w", err)} }
	if len(f.files) == 0 {
		return bad(errors.New("-f is missing: name a file that describes node groups; --help says which"))
	}
	var files []convert.File
	for _, name := range f.files {
		text, err := scenario.ReadFile(name)
		if err != nil {
			return bad(err)
		}
		files = append(files, convert.File{Name: name, Text: text})
	}
	result, err := convert.Groups(files, f.options)
	if err != nil {
		return bad(err)
	}
	write := func() error { return result.WriteYAML(c.OutOrStdout()) }
	if f.output == "json" {
		write = func() error { return writeJSON(c.OutOrStdout(), result) }
	}
	if err := write(); err != nil {
		return &exitError{exitDefect, err}
	}
	needed := result.Needed()
	if len(needed) == 0 {
		return nil
	}
	var text strings.Builder
	text.WriteString("convert: before you apply the manifests there is something to do, which a comment above the NodePool says as well:")
	for _, n := range needed {
		fmt.Fprintf(&text, "\n  NodePool %s: %s: %s", n.NodePool, n.Field, n.Text)
	}
	return &exitError{exitUnscheduled, errors.New(text.String())}
}
