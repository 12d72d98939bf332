package spend

import (
	"fmt"
	"time"
)

// Where the records are kept: ConfigMaps of the controller's namespace, each with one
// entry, which is compressed by gzip.
const (
	// LedgerName is the name of the ledger's ConfigMap, LedgerKey that of its entry.
	LedgerName = "spokeshave-ledger"
	LedgerKey  = "ledger.json.gz"
	// HistoryKey is the name of the entry of each ConfigMap of the history.
	HistoryKey = "days.json.gz"
)

// HistoryName returns the name of the ConfigMap that has the history of a time's month.
// There are twelve: a month replaces that of a year before.
func HistoryName(at time.Time) string {
	return fmt.Sprintf("spokeshave-spend-%02d", int(at.UTC().Month()))
}
