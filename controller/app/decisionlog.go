package app

import (
	"os"

	"spokeshave.dev/controller/record/journal"
)

// decisionLogSize is the largest size of the decision log in bytes. A full log is
// renamed, and one renamed log is kept.
const decisionLogSize = 256 << 20

// decisionLog opens the log that the options name. It is nil for none.
func decisionLog(o *Options) (*journal.Log, error) {
	log := &journal.Log{Inputs: o.DecisionLogInputs, Namespace: o.Namespace}
	switch o.DecisionLog {
	case "":
		return nil, nil
	case "-":
		log.To = os.Stdout
	default:
		file, err := journal.OpenFile(o.DecisionLog, decisionLogSize)
		if err != nil {
			return nil, err
		}
		log.To = file
	}
	return journal.NewLog(log), nil
}
