package attack

import (
	"context"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// exponents makes objects whose amounts would keep a controller computing for minutes, or are none: the API
// server stores what is in custom resources as it is written.
func exponents(t *testing.T) {
	for i, amount := range []string{"1e-99999999", "1e99999999", "1e1.5"} {
		name := fmt.Sprint("absurd-", i)
		write(t, `
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: `+name+`}
spec:
  limits: {cpu: "`+amount+`", memory: 1Gi}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]
`)
		write(t, `
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {name: `+name+`, labels: {karpenter.sh/nodepool: `+name+`}}
spec:
  resources: {requests: {cpu: "`+amount+`"}}
  nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
  requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [none.such]}]
`)
	}
	serve(t)
}

// write creates an object as it is written, without reading its quantities.
func write(t *testing.T, text string) {
	t.Helper()
	var o unstructured.Unstructured
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		t.Fatal(err)
	}
	if err := stack.Client.Create(t.Context(), &o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.IgnoreNotFound(stack.Client.Delete(context.WithoutCancel(t.Context()), &o)); err != nil {
			t.Error(err)
		}
	})
}
