package joiner

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// remove deletes the Node of a machine that has ended, as the cloud controller
// manager does.
// https://kubernetes.io/docs/concepts/architecture/cloud-controller/#node-controller
func (j *joiner) remove(ctx context.Context, m *machine) error {
	name := aws.ToString(m.PrivateDnsName)
	node, err := j.kube.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		m.removed = true
		return nil
	case err != nil:
		return fmt.Errorf("get node %s: %w", name, err)
	}
	if instanceOf(node.Spec.ProviderID) == aws.ToString(m.InstanceId) && node.DeletionTimestamp == nil {
		if err := j.deleteNode(ctx, name, node.UID); err != nil {
			return err
		}
	}
	m.removed = true
	return nil
}

// deleteNode deletes a Node, provided that it is still the same object.
func (j *joiner) deleteNode(ctx context.Context, name string, uid types.UID) error {
	err := j.kube.CoreV1().Nodes().Delete(ctx, name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("delete node %s: %w", name, err)
	}
	j.Log.Info("node of a terminated instance removed", "node", name)
	return nil
}

// sweep deletes our Nodes whose instance is terminated or not known to EC2:
// those of instances that ended while nobody looked.
func (j *joiner) sweep(ctx context.Context) error {
	nodes, err := j.kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: kwokLabel + "=true", ResourceVersion: "0"})
	if err != nil {
		return fmt.Errorf("list nodes: %w", err)
	}
	now := j.Clock.Now()
	for i := range nodes.Items {
		node := &nodes.Items[i]
		id := instanceOf(node.Spec.ProviderID)
		if id == "" || node.DeletionTimestamp != nil {
			continue // not one of EC2's
		}
		m := j.machines[id]
		if m != nil && (m.goneAt.IsZero() || now.Before(m.goneAt.Add(j.RemoveDelay))) {
			continue
		}
		if err := j.deleteNode(ctx, node.Name, node.UID); err != nil {
			return err
		}
	}
	return nil
}

// instanceOf reads the instance from a provider ID; empty when it is another
// cloud's.
func instanceOf(providerID string) string {
	path, ours := strings.CutPrefix(providerID, "aws:///")
	_, id, ok := strings.Cut(path, "/")
	if !ours || !ok {
		return ""
	}
	return id
}
