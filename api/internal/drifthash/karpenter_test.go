package drifthash_test

import (
	"bytes"
	"os"
	"testing"

	"sigs.k8s.io/yaml"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// documents are the objects of a file, one YAML document each.
func documents(t *testing.T, path string) [][]byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Split(text, []byte("\n---\n"))
}

// TestNodePools compares Hash with what Karpenter 1.14.1 wrote on NodePools that
// set every hashed field.
func TestNodePools(t *testing.T) {
	docs := documents(t, "../../karpenter/v1/testdata/hashes/nodepools.yaml")
	if len(docs) < 10 {
		t.Fatalf("%d NodePools were found, want at least 10", len(docs))
	}
	for _, doc := range docs {
		var pool karpv1.NodePool
		if err := yaml.UnmarshalStrict(doc, &pool); err != nil {
			t.Fatal(err)
		}
		if got, err := pool.Hash(); err != nil || got != pool.Annotations[karpv1.AnnotationNodePoolHash] {
			t.Errorf("NodePool %s: hash %s (%v), Karpenter's is %s", pool.Name, got, err, pool.Annotations[karpv1.AnnotationNodePoolHash])
		}
		if v := pool.Annotations[karpv1.AnnotationNodePoolHashVersion]; v != karpv1.NodePoolHashVersion {
			t.Errorf("NodePool %s: Karpenter's version is %s, ours %s", pool.Name, v, karpv1.NodePoolHashVersion)
		}
	}
}

// TestEC2NodeClasses does the same for EC2NodeClasses. The cluster that they come
// from had no CA certificate configured.
func TestEC2NodeClasses(t *testing.T) {
	docs := documents(t, "../../aws/v1/testdata/hashes/nodeclasses.yaml")
	if len(docs) < 10 {
		t.Fatalf("%d EC2NodeClasses were found, want at least 10", len(docs))
	}
	for _, doc := range docs {
		var class awsv1.EC2NodeClass
		if err := yaml.Unmarshal(doc, &class); err != nil {
			t.Fatal(err)
		}
		got, err := class.Hash("")
		if err != nil {
			t.Fatal(err)
		}
		if want := class.Annotations[awsv1.AnnotationEC2NodeClassHash]; got != want {
			t.Errorf("EC2NodeClass %s: hash %s, Karpenter's is %s", class.Name, got, want)
		}
		if v := class.Annotations[awsv1.AnnotationEC2NodeClassHashVersion]; v != awsv1.EC2NodeClassHashVersion {
			t.Errorf("EC2NodeClass %s: Karpenter's version is %s, ours %s", class.Name, v, awsv1.EC2NodeClassHashVersion)
		}
	}
}
