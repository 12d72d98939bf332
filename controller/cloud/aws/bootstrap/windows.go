package bootstrap

import (
	"fmt"
	"strings"

	awsv1 "spokeshave.dev/api/aws/v1"
)

// WindowsRelease is the year and the build of a Windows family; ok is false for
// other families.
// https://learn.microsoft.com/en-us/windows-server/get-started/windows-server-release-info
func WindowsRelease(family string) (year, build string, ok bool) {
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
func windowsUserData(own string, in Node) (string, error) {
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
		powershellQuote(in.Cluster.Name), powershellQuote(in.Cluster.Endpoint), powershellQuote(in.Cluster.CA))
	if dns := clusterDNS(in.Kubelet); dns != "" {
		out.WriteString(" -DNSClusterIP " + powershellQuote(dns))
	}
	out.WriteString(" -KubeletExtraArgs " + powershellQuote(strings.Join(flags, " ")) + "\n</powershell>\n")
	return out.String(), nil
}

// powershellQuote makes a literal string.
func powershellQuote(text string) string {
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}
