package scenario

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/lower"
)

// TakenAPIVersion and TakenKind identify a Taken in a file.
const (
	TakenAPIVersion = karpv1.Domain + "/v1"
	TakenKind       = "Snapshot"
)

// Taken is a snapshot of a live cluster in a file, as `spokeshave snapshot` writes it
// and Read reads it. It contains the input of the controller's next decision and the
// policies of the cluster.
type Taken struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Digest is that of the snapshot. It detects files that were edited.
	Digest   string         `json:"digest"`
	Snapshot model.Snapshot `json:"snapshot"`
	// NodeCosts are what a node of each class costs per hour besides its instance.
	NodeCosts []NodeCost          `json:"nodeCosts,omitempty"`
	Policies  []*corev1.ConfigMap `json:"policies,omitempty"`
}

// NodeCost is what every node of a class costs per hour besides its instance.
type NodeCost struct {
	NodeClass string      `json:"nodeClass"`
	EBS       model.Price `json:"ebs"`
	IPv4      model.Price `json:"publicIPv4"`
}

// Take makes the snapshot of o as a Taken. Like Snapshot, it may be called only once.
func (o *Objects) Take(opts Options) (*Taken, error) {
	s, err := o.Snapshot(opts)
	if err != nil {
		return nil, err
	}
	t := &Taken{APIVersion: TakenAPIVersion, Kind: TakenKind, Snapshot: s, Policies: o.Policies}
	for i := range s.Catalogs {
		c := &s.Catalogs[i]
		ebs, ipv4 := lower.NodeCost(o.class(c.NodeClass), c.Region, nil)
		t.NodeCosts = append(t.NodeCosts, NodeCost{NodeClass: c.NodeClass, EBS: ebs, IPv4: ipv4})
	}
	return t, nil
}

// SetDigest computes and sets the digest.
func (t *Taken) SetDigest() error {
	var err error
	t.Digest, err = t.Snapshot.Digest()
	return err
}

// WriteJSON writes the snapshot as plain JSON.
func (t *Taken) WriteJSON(w io.Writer) error {
	if err := json.NewEncoder(w).Encode(t); err != nil {
		return fmt.Errorf("write snapshot: %w", err)
	}
	return nil
}

// WriteCompressed writes the snapshot as JSON in gzip.
func (t *Taken) WriteCompressed(w io.Writer) error {
	zip := gzip.NewWriter(w)
	return errors.Join(t.WriteJSON(zip), zip.Close())
}

// taken adds the snapshot in a file. There may be only one, since it is a whole
// cluster.
func (o *Objects) taken(d *document) error {
	if o.Taken != nil {
		return &Error{d.source, fmt.Errorf("a second Snapshot: the first stands at %s", o.sources[TakenKind])}
	}
	t := &Taken{}
	if err := d.decode(t); err != nil {
		return err
	}
	digest, err := t.Snapshot.Digest()
	if err != nil {
		return &Error{d.source, err}
	}
	if digest != t.Digest {
		o.warn(d.source, "the snapshot was changed after it was taken: its digest is %.12s, not %.12s", digest, t.Digest)
	}
	if err := t.Snapshot.Verify(); err != nil {
		return &Error{d.source, fmt.Errorf("Snapshot: %w", err)}
	}
	o.Taken, o.sources[TakenKind] = t, d.source
	for _, cm := range t.Policies {
		if cm == nil {
			return &Error{d.source, errors.New("Snapshot: policies: want ConfigMaps, not null")}
		}
		o.sources["ConfigMap "+cm.Namespace+"/"+cm.Name] = d.source
		o.Policies = append(o.Policies, cm)
	}
	return nil
}

// alone returns an error when there are manifests besides a taken snapshot: objects
// cannot be added to a snapshot.
func (o *Objects) alone() error {
	n := o.count()
	if n > 0 {
		return &Error{o.sources[TakenKind], fmt.Errorf("a Snapshot stands for a whole cluster: the %d other objects among the manifests cannot be added to it; policies can", n)}
	}
	return nil
}

// count returns the number of objects, without policies.
func (o *Objects) count() int {
	return len(o.NodePools) + len(o.NodeClaims) + len(o.NodeClasses) + len(o.Nodes) + len(o.Pods) + len(o.Deployments) + len(o.ReplicaSets) +
		len(o.StatefulSets) + len(o.DaemonSets) + len(o.Jobs) + len(o.Namespaces) + len(o.LimitRanges) + len(o.RuntimeClasses) +
		len(o.PriorityClasses) + len(o.VolumeClaims) + len(o.Volumes) + len(o.StorageClasses) + len(o.CSINodes) + len(o.Budgets)
}
