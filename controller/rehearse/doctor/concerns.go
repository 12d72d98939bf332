package doctor

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/kube/lower"
	"spokeshave.dev/controller/kube/managed"
	"spokeshave.dev/controller/rehearse/wording"
)

// concerns are the differences that not every cluster meets, by their subject in
// docs/compatibility.md, with a function that says what of the cluster they concern, ""
// for nothing.
func concerns() map[string]func(*Input) string {
	return map[string]func(*Input) string{
		"options on spot":                                       poolsWith("allows spot", "allow spot", allowsSpot),
		"claims of a static NodePool":                           poolsWith("is static", "are static", func(p *karpv1.NodePool) bool { return p.Spec.Replicas != nil }),
		"dry runs of an EC2NodeClass":                           dryRuns,
		"settings without effect here":                          settingsWithoutEffect,
		"a nomination without room":                             podsWith("is nominated", "are nominated", func(p *corev1.Pod) bool { return p.Status.NominatedNodeName != "" }),
		"a preference in another pod's way":                     podsWith("has preferences", "have preferences", prefers),
		"`ScheduleAnyway` over zones that has been given up":    podsWith("spreads over zones with ScheduleAnyway", "spread over zones with ScheduleAnyway", spreadsSoftly),
		"`amiRefreshInterval`, `subnetRefreshInterval`":         refreshIntervals,
		"unknown Helm values, flags and feature gates":          unknownSettings,
		"a NodeClaim without its EC2NodeClass":                  claimsWithoutClass,
		"a `schedulerName` that nobody serves":                  podsWith("names another scheduler and waits", "name another scheduler and wait", waitsElsewhere),
		"requirements of a NodePool that contradict each other": poolsWith("contradicts itself", "contradict themselves", func(p *karpv1.NodePool) bool { return lower.Contradiction(p) != "" }),
		"pods that stay, shortly before their node ends":        poolsWith("has a terminationGracePeriod", "have a terminationGracePeriod", func(p *karpv1.NodePool) bool { return p.Spec.Template.Spec.TerminationGracePeriod != nil }),
		"consolidation whose pods do not fit any more":          poolsWith("consolidates", "consolidate", consolidates),
		"consolidation whose replacement has become dearer":     poolsWith("consolidates", "consolidate", consolidates),
		"validation before a node goes":                         poolsWith("consolidates", "consolidate", consolidates),
	}
}

// most is how many names a sentence lists.
const most = 5

// names lists names of which some may be left out.
func names(all []string) string {
	slices.Sort(all)
	if len(all) <= most {
		return strings.Join(all, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(all[:most], ", "), len(all)-most)
}

func poolsWith(one, many string, has func(*karpv1.NodePool) bool) func(*Input) string {
	return func(in *Input) string {
		var found []string
		for _, p := range in.Cluster.Objects.NodePools {
			if managed.Pool(p) && has(p) {
				found = append(found, p.Name)
			}
		}
		return counted("NodePool", one, many, found)
	}
}

func podsWith(one, many string, has func(*corev1.Pod) bool) func(*Input) string {
	return func(in *Input) string {
		var found []string
		for _, p := range in.Cluster.Objects.Pods {
			if p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed && has(p) {
				found = append(found, p.Namespace+"/"+p.Name)
			}
		}
		return counted("pod", one, many, found)
	}
}

func counted(what, one, many string, found []string) string {
	switch len(found) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("1 %s %s: %s", what, one, found[0])
	}
	return fmt.Sprintf("%s %s: %s", wording.Plural(len(found), what), many, names(found))
}

// allowsSpot: a NodePool that says nothing of capacity types gets on-demand nodes.
func allowsSpot(p *karpv1.NodePool) bool {
	says, allows := false, true
	for i := range p.Spec.Template.Spec.Requirements {
		r := &p.Spec.Template.Spec.Requirements[i]
		if r.Key != karpv1.LabelCapacityType {
			continue
		}
		says = true
		switch has := slices.Contains(r.Values, karpv1.CapacityTypeSpot); r.Operator {
		case corev1.NodeSelectorOpIn:
			allows = allows && has
		case corev1.NodeSelectorOpNotIn:
			allows = allows && !has
		case corev1.NodeSelectorOpExists:
		case corev1.NodeSelectorOpDoesNotExist, corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
			allows = false
		}
	}
	return says && allows
}

func consolidates(p *karpv1.NodePool) bool {
	_, ok := p.Spec.Disruption.ConsolidateAfter.Duration()
	return ok
}

func prefers(p *corev1.Pod) bool {
	a := p.Spec.Affinity
	return a != nil && (a.NodeAffinity != nil && len(a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution) > 0 ||
		a.PodAffinity != nil && len(a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution) > 0 ||
		a.PodAntiAffinity != nil && len(a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution) > 0)
}

func spreadsSoftly(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Spec.TopologySpreadConstraints, func(c corev1.TopologySpreadConstraint) bool {
		return c.WhenUnsatisfiable == corev1.ScheduleAnyway && c.TopologyKey == corev1.LabelTopologyZone
	})
}

func waitsElsewhere(p *corev1.Pod) bool {
	return p.Spec.NodeName == "" && p.Spec.SchedulerName != "" && p.Spec.SchedulerName != corev1.DefaultSchedulerName
}

func dryRuns(in *Input) string {
	if n := len(in.Cluster.Objects.NodeClasses); n > 0 {
		return wording.Plural(n, "EC2NodeClass")
	}
	return ""
}

func settingsWithoutEffect(in *Input) string {
	var found []string
	for i := range in.Settings {
		if !in.Settings[i].Unknown {
			found = append(found, in.Settings[i].Name)
		}
	}
	return names(found)
}

func unknownSettings(in *Input) string {
	var found []string
	for i := range in.Settings {
		if in.Settings[i].Unknown {
			found = append(found, in.Settings[i].Name)
		}
	}
	return names(found)
}

func refreshIntervals(in *Input) string {
	if in.Karpenter == nil {
		return ""
	}
	var found []string
	for _, flag := range []string{"ami-refresh-interval", "subnet-refresh-interval"} {
		if value := in.Karpenter.Setting(flag); value != "" {
			found = append(found, flag+" is "+value)
		}
	}
	return names(found)
}

func claimsWithoutClass(in *Input) string {
	var found []string
	for _, c := range in.Cluster.Objects.NodeClaims {
		if managed.Claim(c) && in.Cluster.lacksClass(c.Spec.NodeClassRef.Name) {
			found = append(found, c.Name)
		}
	}
	return counted("NodeClaim", "has none", "have none", found)
}
