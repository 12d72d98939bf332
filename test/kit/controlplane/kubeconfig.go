package controlplane

import (
	"context"
	"fmt"
	"path/filepath"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// clusterName is the name of the cluster and the context in every kubeconfig.
const clusterName = "spokeshave"

// tokenSeconds is how long a token of KubeconfigFor lasts: thirty days, longer
// than anybody keeps a demo.
const tokenSeconds = 30 * 24 * 3600

// KubeconfigFor writes a kubeconfig that acts as a ServiceAccount, with a
// token from the TokenRequest API valid for thirty days, and returns its path
// inside Dir. The ServiceAccount must exist: the chart makes its own, and
// without a controller manager no namespace has a default one.
func (c *Cluster) KubeconfigFor(ctx context.Context, namespace, serviceAccount string) (string, error) {
	who := namespace + "/" + serviceAccount
	client, err := kubernetes.NewForConfig(c.Config())
	if err != nil {
		return "", fmt.Errorf("make a kubeconfig for %s: %w", who, err)
	}
	seconds := int64(tokenSeconds)
	token, err := client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, serviceAccount, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds},
	}, metav1.CreateOptions{})
	if apierrors.IsNotFound(err) {
		return "", fmt.Errorf("make a kubeconfig for %s: create the ServiceAccount first: %w", who, err)
	}
	if err != nil {
		return "", fmt.Errorf("make a kubeconfig for %s: %w", who, err)
	}
	path := filepath.Join(c.Dir, "kubeconfig", namespace+"-"+serviceAccount+".yaml")
	access := access{server: c.ServerURL, ca: c.CAData, user: serviceAccount, token: token.Status.Token, namespace: namespace}
	if err := access.write(path); err != nil {
		return "", err
	}
	return path, nil
}

// access is what one kubeconfig says.
type access struct {
	server, user, token, namespace string
	ca                             []byte
}

func (a access) write(path string) error {
	cfg := clientcmdapi.NewConfig()
	cfg.Clusters[clusterName] = &clientcmdapi.Cluster{Server: a.server, CertificateAuthorityData: a.ca}
	cfg.AuthInfos[a.user] = &clientcmdapi.AuthInfo{Token: a.token}
	cfg.Contexts[clusterName] = &clientcmdapi.Context{Cluster: clusterName, AuthInfo: a.user, Namespace: a.namespace}
	cfg.CurrentContext = clusterName
	if err := clientcmd.WriteToFile(*cfg, path); err != nil {
		return fmt.Errorf("write kubeconfig %s: %w", path, err)
	}
	return nil
}
