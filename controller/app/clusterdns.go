package app

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// clusterDNS returns the address of the service that pods ask for names, "" when the
// cluster has no service kube-dns.
func clusterDNS(ctx context.Context, api client.Reader) (string, error) {
	service := &corev1.Service{}
	err := api.Get(ctx, types.NamespacedName{Namespace: metav1.NamespaceSystem, Name: "kube-dns"}, service)
	switch {
	case apierrors.IsNotFound(err), err == nil && service.Spec.ClusterIP == corev1.ClusterIPNone:
		return "", nil
	case err != nil:
		return "", fmt.Errorf("find the cluster's DNS: %w", err)
	}
	return service.Spec.ClusterIP, nil
}
