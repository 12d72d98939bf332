package convert

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/util/yaml"
	sigsyaml "sigs.k8s.io/yaml"
)

// File is a file with one document or more, in JSON or YAML.
type File struct {
	// Name is for messages.
	Name string
	Text []byte
}

// document is every document that can be read: each has one of the fields.
type document struct {
	ScalingGroups []json.RawMessage `json:"AutoScalingGroups"`
	Templates     []json.RawMessage `json:"LaunchTemplateVersions"`
	ManagedGroup  json.RawMessage   `json:"nodegroup"`
	Names         []string          `json:"nodegroups"`
	Kind          string            `json:"kind"`
	clusterConfig
}

// reader collects what documents hold. Templates may come after the groups that use them.
type reader struct {
	options   Options
	templates templates
	groups    []func() *draft
}

// Groups makes NodePools and classes of the node groups that files describe. An error names
// the file, and the group where there is one.
func Groups(files []File, options Options) (*Result, error) {
	r := &reader{options: options}
	for _, f := range files {
		if err := r.file(f); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	if len(r.groups) == 0 {
		return nil, errors.New("the files describe no node group")
	}
	var drafts []*draft
	for _, make := range r.groups {
		drafts = append(drafts, make())
	}
	return result(drafts), nil
}

func (r *reader) file(f File) error {
	split := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(f.Text)))
	for {
		part, err := split.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read: %w", err)
		}
		if len(bytes.TrimSpace(part)) == 0 {
			continue
		}
		raw, err := sigsyaml.YAMLToJSON(part)
		if err != nil {
			return fmt.Errorf("parse: %w", err)
		}
		if err := r.document(raw); err != nil {
			return err
		}
	}
}

func (r *reader) document(raw []byte) error {
	var doc document
	if err := json.Unmarshal(raw, &doc); err != nil {
		return fmt.Errorf("parse: %w", err)
	}
	switch {
	case doc.ScalingGroups != nil:
		return each(doc.ScalingGroups, "Auto Scaling group", r.scaling)
	case doc.Templates != nil:
		return each(doc.Templates, "launch template", r.template)
	case doc.ManagedGroup != nil:
		return each([]json.RawMessage{doc.ManagedGroup}, "managed node group", r.managed)
	case doc.Kind == "ClusterConfig":
		eksctl := func(raw json.RawMessage) error { return r.eksctl(raw, doc.Metadata.Name) }
		return errors.Join(each(doc.Groups, "node group", eksctl), each(doc.Managed, "managed node group", eksctl))
	case doc.Names != nil:
		return errors.New("these are names of node groups only: for each of them run aws eks describe-nodegroup --cluster-name CLUSTER --nodegroup-name NAME")
	}
	return errors.New("want what aws autoscaling describe-auto-scaling-groups, aws ec2 describe-launch-template-versions or aws eks describe-nodegroup prints as JSON, or a ClusterConfig of eksctl")
}

// each reads the elements of a list, and says which of them cannot be read.
func each(all []json.RawMessage, what string, read func(json.RawMessage) error) error {
	for i, raw := range all {
		if err := read(raw); err != nil {
			return fmt.Errorf("%s %d: %w", what, i+1, err)
		}
	}
	return nil
}

func (r *reader) scaling(raw json.RawMessage) error {
	var g scalingGroup
	if err := json.Unmarshal(raw, &g); err != nil {
		return err
	}
	r.groups = append(r.groups, func() *draft {
		d := g.draft(r.templates, r.options)
		d.leftOut(fields(raw), scalingCarried(), "")
		return d
	})
	return nil
}

func (r *reader) template(raw json.RawMessage) error {
	var t templateVersion
	var data struct {
		Data json.RawMessage `json:"LaunchTemplateData"`
	}
	if err := errors.Join(json.Unmarshal(raw, &t), json.Unmarshal(raw, &data)); err != nil {
		return err
	}
	t.fields = fields(data.Data)
	r.templates = append(r.templates, t)
	return nil
}

func (r *reader) managed(raw json.RawMessage) error {
	var g managedGroup
	if err := json.Unmarshal(raw, &g); err != nil {
		return err
	}
	r.groups = append(r.groups, func() *draft {
		d := g.draft(r.templates, r.options)
		d.leftOut(fields(raw), managedCarried(), "")
		return d
	})
	return nil
}

func (r *reader) eksctl(raw json.RawMessage, cluster string) error {
	var g eksctlGroup
	if err := json.Unmarshal(raw, &g); err != nil {
		return err
	}
	r.groups = append(r.groups, func() *draft {
		d := g.draft(cluster, r.templates, r.options)
		d.leftOut(fields(raw), eksctlCarried(), "")
		return d
	})
	return nil
}
