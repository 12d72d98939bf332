package instances

import (
	"strings"

	"spokeshave.dev/controller/cloud/aws/client"
	"spokeshave.dev/controller/cloud/provider"
)

// ProviderID is how Kubernetes names an instance.
func ProviderID(zone, id string) string { return "aws:///" + zone + "/" + id }

// InstanceID reads the instance id from a provider ID.
func InstanceID(providerID string) (string, error) {
	path, ours := strings.CutPrefix(providerID, "aws:///")
	zone, id, ok := strings.Cut(path, "/")
	if !ours || !ok || zone == "" || !strings.HasPrefix(id, "i-") || strings.Contains(id, "/") {
		return "", client.Refuse(provider.Invalid, "provider ID %q is not of the form aws:///<zone>/<instance id>", providerID)
	}
	return id, nil
}

// IDOf is the instance id of an instance, or its provider ID where that is not one of
// EC2's.
func IDOf(i *provider.Instance) string {
	id, err := InstanceID(i.ProviderID)
	if err != nil {
		return i.ProviderID
	}
	return id
}
