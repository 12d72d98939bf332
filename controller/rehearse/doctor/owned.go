package doctor

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"spokeshave.dev/controller/kube/managed"
)

// Owned is an object that something else than a person keeps.
type Owned struct {
	Reference

	// By is who.
	By string `json:"by"`
	// Foreign says that another controller launches from it: it is left alone.
	Foreign bool `json:"foreign,omitempty"`
}

// owned lists NodePools, NodeClasses and policies that other controllers own or keep.
func owned(c *Cluster) []Owned {
	out := []Owned{}
	for _, p := range c.Objects.NodePools {
		if ref := &p.Spec.Template.Spec.NodeClassRef; !managed.Pool(p) {
			out = append(out, Owned{Reference{"NodePool", p.Name}, "the controller of " + ref.Kind + "." + ref.Group, true})
			continue
		}
		out = append(out, kept("NodePool", p)...)
	}
	for _, class := range c.Objects.NodeClasses {
		out = append(out, kept("EC2NodeClass", class)...)
	}
	for _, policy := range c.Objects.Policies {
		out = append(out, kept("ConfigMap", policy)...)
	}
	for _, f := range c.Foreign {
		out = append(out, Owned{f, "another controller", true})
	}
	slices.SortStableFunc(out, func(a, b Owned) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name)) })
	return out
}

// kept returns who keeps an object as it is declared elsewhere.
func kept(kind string, o metav1.Object) []Owned {
	name := o.GetName()
	if o.GetNamespace() != "" {
		name = o.GetNamespace() + "/" + name
	}
	for _, mark := range []struct{ value, by string }{
		{o.GetAnnotations()["argocd.argoproj.io/tracking-id"], "Argo CD: "},
		{o.GetLabels()["kustomize.toolkit.fluxcd.io/name"], "Flux Kustomization "},
		{o.GetLabels()["helm.toolkit.fluxcd.io/name"], "Flux HelmRelease "},
		{o.GetAnnotations()["meta.helm.sh/release-name"], "Helm release "},
	} {
		if mark.value != "" {
			return []Owned{{Reference{kind, name}, mark.by + mark.value, false}}
		}
	}
	if owner := metav1.GetControllerOf(o); owner != nil {
		return []Owned{{Reference{kind, name}, owner.Kind + " " + owner.Name, false}}
	}
	return nil
}

func ownedFindings(all []Owned) []Finding {
	var out []Finding
	for i := range all {
		o := &all[i]
		f := Finding{Area: Ownership, Subject: o.Kind + " " + o.Name, Message: "kept by " + o.By + ": changes belong there"}
		if o.Foreign {
			f.Message = "belongs to " + o.By + ": neither written nor launched from"
		}
		out = append(out, f)
	}
	return out
}
