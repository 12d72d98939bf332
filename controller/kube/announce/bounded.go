package announce

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
)

// NoteLimit is the most bytes of an event's note that are sent. The API server refuses notes of
// more than 1,024 bytes, and the event with them.
const NoteLimit = 1000

// Cut returns the text as valid UTF-8, with an ellipsis in place of what is beyond so many bytes.
func Cut(text string, most int) string {
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…" // a character that was cut in two is left out
	}
	return strings.ToValidUTF8(text, "�")
}

// Bounded returns a recorder that cuts the notes of events at NoteLimit and hands them to another one.
func Bounded(to events.EventRecorder) events.EventRecorder { return bounded{to} }

type bounded struct{ to events.EventRecorder }

// Eventf implements events.EventRecorder.
func (b bounded) Eventf(regarding, related runtime.Object, kind, reason, action, note string, args ...any) {
	b.to.Eventf(regarding, related, kind, reason, action, "%s", Cut(fmt.Sprintf(note, args...), NoteLimit))
}
