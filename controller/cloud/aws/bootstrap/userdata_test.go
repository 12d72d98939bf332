package bootstrap

import (
	"encoding/json"
	"strings"
	"testing"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/awstest"
)

func testCluster() Cluster {
	return Cluster{Name: "spokes", Endpoint: "https://spokes.example", CA: "Q0E=", ServiceCIDR: "10.100.0.0/16", Version: "1.36"}
}

func TestUserData(t *testing.T) {
	script := "#!/bin/bash\necho hello\n"
	archive := "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"OWN\"\n\n--OWN\nContent-Type: application/node.eks.aws\n\n" +
		"kind: NodeConfig\napiVersion: node.eks.aws/v1alpha1\nspec:\n  kubelet:\n    config:\n      maxPods: 42\n--OWN\nContent-Type: text/x-shellscript\n\n" + script + "--OWN--\n"
	for name, c := range map[string]struct {
		reason string
		class  *awsv1.EC2NodeClass
		raid0  bool
	}{
		"al2023.txt":              {reason: "the generated NodeConfig alone", class: awstest.Class(awsv1.AMIFamilyAL2023, "")},
		"al2023-raid0.txt":        {reason: "local disks joined", class: awstest.Class(awsv1.AMIFamilyAL2023, ""), raid0: true},
		"al2023-script.txt":       {reason: "a script becomes a part", class: awstest.Class(awsv1.AMIFamilyAL2023, script)},
		"al2023-plain-script.txt": {reason: "a script without interpreter is one for bash", class: awstest.Class(awsv1.AMIFamilyAL2023, "export PROXY=none\necho hello\n")},
		"al2023-flag.txt":         {reason: "a flag would win over the configuration", class: awstest.Class(awsv1.AMIFamilyAL2023, "kind: NodeConfig\nspec: {kubelet: {flags: [--max-pods=42]}}")},
		"al2023-config.txt":       {reason: "an own NodeConfig comes before ours, which wins", class: awstest.Class(awsv1.AMIFamilyAL2023, "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {kubelet: {config: {maxPods: 42}}}")},
		"al2023-archive.txt":      {reason: "the parts of an own archive are kept", class: awstest.Class(awsv1.AMIFamilyAL2023, archive)},
		"bottlerocket.toml":       {reason: "own settings and labels are kept, ours win", class: awstest.Class(awsv1.AMIFamilyBottlerocket, "[settings.kubernetes]\nkube-api-qps = 30\ncluster-name = 'mine'\n[settings.kubernetes.node-labels]\nown = 'kept'\nteam = 'other'\n[settings.host-containers.admin]\nenabled = true\n")},
		"bottlerocket-raid0.toml": {
			reason: "local disks joined and mounted before own commands run", raid0: true,
			class: awstest.Class(awsv1.AMIFamilyBottlerocket, "[settings.bootstrap-commands.mine]\ncommands = [['apiclient', 'get', 'os']]\nmode = 'once'\n"),
		},
		"al2.txt":            {reason: "the bootstrap script with flags", class: awstest.Class(awsv1.AMIFamilyAL2, "")},
		"al2-raid0.txt":      {reason: "local disks joined", class: awstest.Class(awsv1.AMIFamilyAL2, ""), raid0: true},
		"al2-script.txt":     {reason: "an own script runs first", class: awstest.Class(awsv1.AMIFamilyAL2, script)},
		"al2-archive.txt":    {reason: "own parts come first", class: awstest.Class(awsv1.AMIFamilyAL2, archive)},
		"windows.txt":        {reason: "the bootstrap script of Windows", class: awstest.Class(awsv1.AMIFamilyWindows2022, "")},
		"windows-script.txt": {reason: "own PowerShell runs first", class: awstest.Class(awsv1.AMIFamilyWindows2019, "<powershell>\nWrite-Host 'it''s me'\n</powershell>\n")},
		"custom.txt":         {reason: "nothing is merged", class: awstest.Class(awsv1.AMIFamilyCustom, script)},
	} {
		t.Run(name, func(t *testing.T) {
			if c.raid0 {
				c.class.Spec.InstanceStorePolicy = new(awsv1.InstanceStoreRAID0)
			}
			spec := awstest.Spec()
			got, err := UserData(c.class, NodeOf(c.class, testCluster(), &spec))
			if err != nil {
				t.Fatalf("%s: %v", c.reason, err)
			}
			awstest.Golden(t, name, got)
		})
	}
}

func TestUserDataRefuses(t *testing.T) {
	for name, c := range map[string]struct{ family, own, want string }{
		"other YAML":       {awsv1.AMIFamilyAL2023, "#cloud-config\nruncmd: [ls]", "begins with \"#cloud-config\""},
		"not multipart":    {awsv1.AMIFamilyAL2023, "MIME-Version: 1.0\nContent-Type: text/plain\n\nhello", "not multipart"},
		"cut off header":   {awsv1.AMIFamilyAL2023, "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=A\n\n--A\nContent-Ty", "part 1"},
		"not TOML":         {awsv1.AMIFamilyBottlerocket, "#!/bin/bash\necho", "TOML"},
		"wrong TOML shape": {awsv1.AMIFamilyBottlerocket, "settings = 3", "must be a table"},
		"labels, no table": {awsv1.AMIFamilyBottlerocket, "[settings.kubernetes]\nnode-labels = 3", "must be a table"},
		"no such family":   {"Gentoo", "", "is not a family"},
		"AL2 NodeConfig":   {awsv1.AMIFamilyAL2, "kind: NodeConfig", "AL2 takes"},
		"shell on Windows": {awsv1.AMIFamilyWindows2022, "#!/bin/sh", "PowerShell"},
		"open PowerShell":  {awsv1.AMIFamilyWindows2025, "<powershell>\nx", "no </powershell>"},
	} {
		t.Run(name, func(t *testing.T) {
			spec := awstest.Spec()
			class := awstest.Class(c.family, c.own)
			if _, err := UserData(class, NodeOf(class, testCluster(), &spec)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("UserData = %v, want an error with %q", err, c.want)
			}
		})
	}
}

// A kubelet setting that a family's images have no word for is refused, and not
// left out; AL2023 takes them all.
func TestKubeletSettingsThatAFamilyHasNot(t *testing.T) {
	for family, refused := range map[string]bool{
		awsv1.AMIFamilyAL2: true, awsv1.AMIFamilyBottlerocket: true, awsv1.AMIFamilyWindows2022: true, awsv1.AMIFamilyAL2023: false,
	} {
		class := awstest.Class(family, "")
		class.Spec.Kubelet.Extra = map[string]json.RawMessage{"topologyManagerPolicy": json.RawMessage(`"restricted"`)}
		spec := awstest.Spec()
		_, err := UserData(class, NodeOf(class, testCluster(), &spec))
		if refused != (err != nil) || refused && !strings.Contains(err.Error(), "topologyManagerPolicy") {
			t.Errorf("%s: UserData = %v, want an error that names the setting: %t", family, err, refused)
		}
	}
}

// The cluster's DNS is told to kubelets of every family, unless the class names its own.
func TestClusterDNS(t *testing.T) {
	cluster := testCluster()
	cluster.DNS = "10.100.0.53"
	for _, family := range []string{awsv1.AMIFamilyAL2, awsv1.AMIFamilyAL2023, awsv1.AMIFamilyBottlerocket, awsv1.AMIFamilyWindows2022} {
		for own, want := range map[string]string{"": "10.100.0.53", "10.100.0.77": "10.100.0.77"} {
			class := awstest.Class(family, "")
			class.Spec.Kubelet.ClusterDNS = nil
			if own != "" {
				class.Spec.Kubelet.ClusterDNS = []string{own}
			}
			spec := awstest.Spec()
			got, err := UserData(class, NodeOf(class, cluster, &spec))
			if err != nil || !strings.Contains(got, want) || want == own && strings.Contains(got, cluster.DNS) {
				t.Errorf("%s, class with %q: no kubelet with DNS %s (error %v):\n%s", family, own, want, err, got)
			}
		}
	}
}

// Which classes may set maxPods in their own user data, so that nodes have to be told the
// number that was planned with.
func TestSetsMaxPods(t *testing.T) {
	for name, c := range map[string]struct {
		reason, family, own string
		want                bool
	}{
		"setting":      {"a NodeConfig", awsv1.AMIFamilyAL2023, "kind: NodeConfig\nspec: {kubelet: {config: {maxPods: 42}}}", true},
		"flag":         {"a flag in a NodeConfig", awsv1.AMIFamilyAL2023, "kind: NodeConfig\nspec: {kubelet: {flags: [--max-pods=42]}}", true},
		"Bottlerocket": {"settings in TOML", awsv1.AMIFamilyBottlerocket, "[settings.kubernetes]\nmax-pods = 42", true},
		"other":        {"user data about something else", awsv1.AMIFamilyAL2023, "#!/bin/sh\necho", false},
		"none":         {"no user data", awsv1.AMIFamilyBottlerocket, "", false},
		"Custom":       {"nothing is merged", awsv1.AMIFamilyCustom, "--max-pods=3", false},
	} {
		if got := SetsMaxPods(awstest.Class(c.family, c.own)); got != c.want {
			t.Errorf("%s (%s): %t", name, c.reason, got)
		}
	}
}

func TestQuotes(t *testing.T) {
	if got := shellQuote("it's"); got != `'it'\''s'` {
		t.Errorf("shell: %s", got)
	}
	if got := powershellQuote("it's"); got != `'it''s'` {
		t.Errorf("PowerShell: %s", got)
	}
}

func FuzzOwnParts(f *testing.F) {
	f.Add("#!/bin/sh\n")
	f.Add("MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"A\"\n\n--A\n\nx\n--A--")
	f.Add("kind: NodeConfig")
	f.Fuzz(func(t *testing.T, own string) {
		parts, err := ownParts(own, awsv1.AMIFamilyAL2023)
		if err != nil {
			return
		}
		archive, err := writeArchive(parts)
		if err != nil {
			t.Skip("no archive of these parts:", err)
		}
		if len(parts) > 0 && !strings.HasPrefix(archive, "MIME-Version: 1.0\n") {
			t.Errorf("archive begins with %q", head(archive))
		}
	})
}

// TestUserDataIsBounded: EC2 takes 16 KiB; more is said before a launch fails for it.
func TestUserDataIsBounded(t *testing.T) {
	for name, c := range map[string]struct {
		reason, family string
		own            int // bytes
		fits           bool
	}{
		"at the limit": {"EC2 takes it", awsv1.AMIFamilyCustom, MaxUserData, true},
		"one more":     {"EC2 refuses it", awsv1.AMIFamilyCustom, MaxUserData + 1, false},
		"with ours":    {"what nodes are told counts", awsv1.AMIFamilyAL2, MaxUserData, false},
	} {
		t.Run(name, func(t *testing.T) {
			class := awstest.Class(c.family, "#!"+strings.Repeat("x", c.own-2))
			data, err := UserData(class, Node{Cluster: testCluster()})
			if c.fits && (err != nil || len(data) != c.own) {
				t.Errorf("%s: %d bytes, %v", c.reason, len(data), err)
			}
			if !c.fits && (err == nil || !strings.Contains(err.Error(), "spec.userData") || !strings.Contains(err.Error(), "EC2 takes 16384")) {
				t.Errorf("%s: %v", c.reason, err)
			}
		})
	}
}
