package aws

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/catalog"
	"spokeshave.dev/controller/core/model"
)

const (
	osWindows = "windows"
	// windowsPods is what kubelet on Windows is configured for.
	// https://docs.aws.amazon.com/eks/latest/userguide/windows-support.html
	windowsPods = 110
	// windowsAddress is requested by every Windows pod, by way of a webhook.
	windowsAddress = "vpc.amazonaws.com/PrivateIPv4Address"
	// windowsLicence is what a vCPU with Windows costs more per hour, in dollars,
	// on demand and on spot. The burstable families (t) pay less; counting as much
	// for them errs on the dear side.
	// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/optimize-cpu.html
	windowsLicence = 0.046
)

// windowsRelease is the year and the build of a Windows family.
// https://learn.microsoft.com/en-us/windows-server/get-started/windows-server-release-info
func windowsRelease(family string) (year, build string, ok bool) {
	switch family {
	case awsv1.AMIFamilyWindows2019:
		return "2019", "10.0.17763", true
	case awsv1.AMIFamilyWindows2022:
		return "2022", "10.0.20348", true
	case awsv1.AMIFamilyWindows2025:
		return "2025", "10.0.26100", true
	default:
		return "", "", false
	}
}

// windowsUserData is PowerShell: the class's own first, then a call of the
// image's bootstrap script.
// https://docs.aws.amazon.com/eks/latest/userguide/eks-optimized-windows-ami.html#bootstrap-script-configuration-parameters
func windowsUserData(own string, in join) (string, error) {
	own = strings.TrimSpace(own)
	if inner, ok := strings.CutPrefix(own, "<powershell>"); ok {
		inner, closed := strings.CutSuffix(inner, "</powershell>")
		if !closed {
			return "", fmt.Errorf("spec.userData: <powershell> has no </powershell> at the end")
		}
		own = strings.TrimSpace(inner)
	}
	if strings.Contains(own, "<powershell>") || strings.HasPrefix(own, "#!") || strings.HasPrefix(own, "<script>") {
		return "", fmt.Errorf("spec.userData: Windows takes one PowerShell script, with or without <powershell> around it; this begins with %q", head(own))
	}
	flags, err := kubeletFlags(in)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	out.WriteString("<powershell>\n")
	if own != "" {
		out.WriteString(own + "\n")
	}
	out.WriteString(`[string]$EKSBootstrapScriptFile = "$env:ProgramFiles\Amazon\EKS\Start-EKSBootstrap.ps1"` + "\n")
	fmt.Fprintf(&out, "& $EKSBootstrapScriptFile -EKSClusterName %s -APIServerEndpoint %s -Base64ClusterCA %s",
		powershellQuote(in.cluster.name), powershellQuote(in.cluster.endpoint), powershellQuote(in.cluster.ca))
	if dns := clusterDNS(in.kubelet); dns != "" {
		out.WriteString(" -DNSClusterIP " + powershellQuote(dns))
	}
	out.WriteString(" -KubeletExtraArgs " + powershellQuote(strings.Join(flags, " ")) + "\n</powershell>\n")
	return out.String(), nil
}

// powershellQuote makes a literal string.
func powershellQuote(text string) string {
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}

// asWindows turns types lowered for Linux hardware into Windows nodes: label of
// the build, addresses from the primary interface alone, and the licence.
func asWindows(types []model.InstanceType, hardware []catalog.Type, build string) {
	byName := make(map[string]*catalog.Type, len(hardware))
	for i := range hardware {
		byName[hardware[i].Name] = &hardware[i]
	}
	for i := range types {
		t := &types[i]
		t.Labels[corev1.LabelWindowsBuild] = build
		h := byName[t.Name]
		if h == nil {
			continue
		}
		addresses := int64(max(0, h.IPv4PerENI-1))
		t.Capacity[windowsAddress], t.Allocatable[windowsAddress] = addresses, addresses
		for j := range t.Offerings {
			licence := model.PriceOf(windowsLicence * float64(h.VCPU))
			t.Offerings[j].Price += licence
			if t.Offerings[j].List > 0 {
				t.Offerings[j].List += licence
			}
		}
	}
}
