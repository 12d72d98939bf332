package doctor

import (
	"cmp"
	"fmt"
	"strings"
)

// wantedVersion is the version of Karpenter whose behaviour was compared.
const wantedVersion = "1.14."

// versionFindings: what runs has to be a version whose objects and behaviour are known.
func versionFindings(in *Input) []Finding {
	k := in.Karpenter
	if k == nil {
		return nil
	}
	subject := "Deployment " + k.Namespace + "/" + k.Name
	var out []Finding
	switch {
	case k.Version == "":
		out = append(out, Finding{Version, true, subject, fmt.Sprintf("image %s and its labels do not tell Karpenter's version", cmp.Or(k.Image, "without a name")), "make sure that it is 1.14"})
	case !strings.HasPrefix(k.Version+".", wantedVersion):
		out = append(out, Finding{Version, true, subject, "Karpenter " + k.Version + ": what was compared is 1.14", "upgrade Karpenter to 1.14 first, by its own guide"})
	}
	if s := in.Spokeshave; s != nil && k.Replicas > 0 && s.Replicas > 0 && cmp.Or(s.Setting("mode"), "Act") == "Act" {
		out = append(out, Finding{Version, true, subject, fmt.Sprintf("Karpenter runs beside Spokeshave: one of them waits for the lease %s/%s", karpenterSystem, karpenterLease), fmt.Sprintf("kubectl --namespace %s scale deployment/%s --replicas=0", k.Namespace, k.Name)})
	}
	return out
}

// settingFindings: settings without effect, and misspelt ones.
func settingFindings(in *Input) []Finding {
	var out []Finding
	for i := range in.Settings {
		s := &in.Settings[i]
		f := Finding{Area: Settings, Subject: strings.TrimSuffix(s.Source+" "+s.Name+"="+s.Value, "="), Message: "accepted, without effect: " + s.Message}
		if s.Unknown {
			f.Message, f.Person, f.Remedy = s.Message, true, "correct or remove it, so that what is meant is carried out"
		}
		out = append(out, f)
	}
	for _, e := range in.Cluster.Extensions {
		out = append(out, Finding{Settings, true, e.Kind + " " + e.Name, e.Kind + "s are not read", "replace it: a rank policy changes what types cost in the choice"})
	}
	return out
}

func unreadFindings(c *Cluster) []Finding {
	var out []Finding
	for i := range c.Unread {
		u := &c.Unread[i]
		out = append(out, Finding{Reading, u.Needed, u.What, "not read: " + u.Why, u.Remedy})
	}
	return out
}

// unseen says what the report cannot know.
func unseen(in *Input) []string {
	out := []string{}
	if k := in.Karpenter; k != nil && len(k.Hidden) > 0 {
		out = append(out, "settings of Karpenter that stand in "+strings.Join(k.Hidden, ", ")+": values from elsewhere are not read")
	}
	if in.Permissions == nil {
		out = append(out, "permissions in AWS: name the role's policies with --iam-policy")
	}
	if !in.Cluster.Live {
		out = append(out, "what runs now: files were read, not a cluster")
	}
	return out
}

func firstWord(text string) string {
	word, _, _ := strings.Cut(text, " ")
	return word
}
