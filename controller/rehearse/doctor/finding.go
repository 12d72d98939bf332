package doctor

// Area says what a finding is about.
type Area string

// The areas, in the order in which findings are listed.
const (
	Reading     Area = "reading"
	Version     Area = "version"
	Settings    Area = "settings"
	Objects     Area = "objects"
	Permission  Area = "permissions"
	Health      Area = "health"
	Ownership   Area = "ownership"
	Calculation Area = "cost"
)

// areas returns the areas in order.
func areas() []Area {
	return []Area{Reading, Version, Settings, Objects, Permission, Health, Ownership, Calculation}
}

// Finding is something that somebody should know before a swap, or about a controller
// that runs.
type Finding struct {
	Area Area `json:"area"`
	// Person says that a person has to do something first. Other findings are for
	// information.
	Person bool `json:"person"`
	// Subject is the object, setting, file or permission.
	Subject string `json:"subject"`
	Message string `json:"message"`
	// Remedy is what to do, empty when there is nothing to do.
	Remedy string `json:"remedy,omitempty"`
}
