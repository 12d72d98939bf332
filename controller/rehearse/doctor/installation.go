package doctor

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// Installation is a controller that is installed.
type Installation struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Version is that of the image's tag or of the label app.kubernetes.io/version, empty
	// when neither tells.
	Version string `json:"version,omitempty"`
	Image   string `json:"image,omitempty"`
	// Replicas are asked for, Ready of them are ready.
	Replicas int32 `json:"replicas"`
	Ready    int32 `json:"ready"`
	// Flags are what its arguments set, by name without dashes.
	Flags map[string]string `json:"flags,omitempty"`
	// Environment are its variables with a value in the Deployment, without those whose
	// name says that they are secret.
	Environment map[string]string `json:"environment,omitempty"`
	// Hidden are the variables, ConfigMaps and Secrets whose values were not read.
	Hidden []string `json:"hidden,omitempty"`
}

// Setting returns the value of a setting by the name of its flag: that of the flag, else
// that of the environment variable.
func (i *Installation) Setting(flag string) string {
	if value, ok := i.Flags[flag]; ok {
		return value
	}
	return i.Environment[strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))]
}

// FindKarpenter returns the Deployment of Karpenter's controller, nil for none.
func FindKarpenter(all []*appsv1.Deployment) *Installation { return find(all, "karpenter") }

// FindSpokeshave returns the Deployment of this controller, nil for none.
func FindSpokeshave(all []*appsv1.Deployment) *Installation { return find(all, "spokeshave") }

// find returns the first Deployment, by namespace and name, that the conventional label or
// the name of its image calls by a name.
func find(all []*appsv1.Deployment, name string) *Installation {
	sorted := slices.Clone(all)
	slices.SortFunc(sorted, func(a, b *appsv1.Deployment) int {
		return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
	})
	for _, d := range sorted {
		if c := container(d, name); c != nil {
			return install(d, c)
		}
	}
	return nil
}

// container returns the container of a Deployment that runs a controller, nil for none.
func container(d *appsv1.Deployment, name string) *corev1.Container {
	all := d.Spec.Template.Spec.Containers
	called := d.Labels["app.kubernetes.io/name"] == name || d.Spec.Template.Labels["app.kubernetes.io/name"] == name
	for i := range all {
		repository, _ := splitImage(all[i].Image)
		_, last, _ := cutLast(repository, "/")
		if last == name || last == name+"-controller" || last == "controller" && strings.Contains(repository, name) {
			return &all[i]
		}
	}
	for i := range all {
		if called && (all[i].Name == "controller" || len(all) == 1) {
			return &all[i]
		}
	}
	return nil
}

func install(d *appsv1.Deployment, c *corev1.Container) *Installation {
	out := &Installation{
		Namespace: d.Namespace, Name: d.Name, Image: c.Image, Replicas: 1, Ready: d.Status.ReadyReplicas,
		Flags: flags(slices.Concat(c.Command, c.Args)), Environment: map[string]string{},
	}
	if d.Spec.Replicas != nil {
		out.Replicas = *d.Spec.Replicas
	}
	_, out.Version = splitImage(c.Image)
	if !isVersion(out.Version) {
		out.Version = strings.TrimPrefix(firstOf(d.Labels["app.kubernetes.io/version"], d.Spec.Template.Labels["app.kubernetes.io/version"]), "v")
	}
	for _, e := range c.Env {
		if e.ValueFrom != nil || secret(e.Name) {
			out.Hidden = append(out.Hidden, "variable "+e.Name)
			continue
		}
		out.Environment[e.Name] = e.Value
	}
	for _, from := range c.EnvFrom {
		if from.ConfigMapRef != nil {
			out.Hidden = append(out.Hidden, "ConfigMap "+from.ConfigMapRef.Name)
		}
		if from.SecretRef != nil {
			out.Hidden = append(out.Hidden, "Secret "+from.SecretRef.Name)
		}
	}
	return out
}

// secret reports whether a variable's name says that its value is nobody else's business.
func secret(name string) bool {
	return slices.ContainsFunc([]string{"SECRET", "TOKEN", "PASSWORD", "KEY", "CREDENTIAL"}, func(part string) bool { return strings.Contains(strings.ToUpper(name), part) })
}

// flags reads arguments: "--name=value", "--name value" and "--name".
func flags(args []string) map[string]string {
	out := map[string]string{}
	for i := 0; i < len(args); i++ {
		name, value, has := strings.Cut(args[i], "=")
		bare := strings.TrimLeft(name, "-")
		if bare == name || bare == "" {
			continue
		}
		switch {
		case has:
		case i+1 < len(args) && !strings.HasPrefix(args[i+1], "-"):
			i++
			value = args[i]
		default:
			value = "true"
		}
		out[bare] = value
	}
	return out
}

// splitImage returns an image's repository and its tag without a leading v.
func splitImage(image string) (repository, tag string) {
	image, _, _ = strings.Cut(image, "@")
	slash := strings.LastIndexByte(image, '/')
	if colon := strings.LastIndexByte(image, ':'); colon > slash {
		return image[:colon], strings.TrimPrefix(image[colon+1:], "v")
	}
	return image, ""
}

func cutLast(text, separator string) (before, after string, found bool) {
	at := strings.LastIndex(text, separator)
	if at < 0 {
		return "", text, false
	}
	return text[:at], text[at+len(separator):], true
}

func firstOf(all ...string) string {
	for _, one := range all {
		if one != "" {
			return one
		}
	}
	return ""
}

func isVersion(text string) bool { return regexp.MustCompile(`^\d+\.\d+(\.\d+)?`).MatchString(text) }

// gates returns the feature gates that are set, as "name=value", in order.
func (i *Installation) gates() []string {
	var out []string
	for each := range strings.SplitSeq(i.Setting("feature-gates"), ",") {
		if each = strings.TrimSpace(each); each != "" {
			out = append(out, each)
		}
	}
	slices.Sort(out)
	return out
}

// settings returns flags and variables but those of feature gates as "name=value", in
// order.
func (i *Installation) settings() []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(i.Flags)) {
		if name == "feature-gates" {
			continue
		}
		out = append(out, fmt.Sprintf("--%s=%s", name, i.Flags[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(i.Environment)) {
		if name == "FEATURE_GATES" {
			continue
		}
		out = append(out, name+"="+i.Environment[name])
	}
	return out
}
