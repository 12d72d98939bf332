package bootstrap

import (
	"fmt"
	"strings"

	awsv1 "spokeshave.dev/api/aws/v1"
)

// al2UserData is a MIME archive with the class's own parts first and a call of
// the image's bootstrap script last: what the class prepares is there when
// kubelet starts.
// https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html#launch-template-user-data
func al2UserData(own string, in Node) (string, error) {
	parts, err := ownParts(own, awsv1.AMIFamilyAL2)
	if err != nil {
		return "", err
	}
	flags, err := kubeletFlags(in)
	if err != nil {
		return "", err
	}
	var call strings.Builder
	call.WriteString("#!/bin/bash -xe\n")
	fmt.Fprintf(&call, "/etc/eks/bootstrap.sh %s --apiserver-endpoint %s --b64-cluster-ca %s",
		shellQuote(in.Cluster.Name), shellQuote(in.Cluster.Endpoint), shellQuote(in.Cluster.CA))
	if dns := clusterDNS(in.Kubelet); dns != "" {
		call.WriteString(" --dns-cluster-ip " + shellQuote(dns))
	}
	if in.Kubelet != nil && in.Kubelet.MaxPods != nil {
		call.WriteString(" --use-max-pods false")
	}
	if in.RAID0 {
		call.WriteString(" --local-disks raid0")
	}
	call.WriteString(" --kubelet-extra-args " + shellQuote(strings.Join(flags, " ")) + "\n")
	return writeArchive(append(parts, part{contentType: mimeScript, body: call.String()}))
}

// shellQuote makes one word of a text for a POSIX shell.
func shellQuote(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
