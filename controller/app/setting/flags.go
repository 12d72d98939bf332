package setting

import "github.com/spf13/pflag"

// Bind declares the flags of Karpenter that have no effect, so that a command line of its
// is accepted. Help does not show them.
func Bind(fs *pflag.FlagSet) {
	for _, s := range inapplicable() {
		if s.Flag == "" {
			continue
		}
		fs.String(s.Flag, s.Default, "of Karpenter, without effect: "+s.Why)
		flag := fs.Lookup(s.Flag)
		flag.Hidden = true
		if s.Switch {
			flag.NoOptDefVal = "true"
		}
	}
}
