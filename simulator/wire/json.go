package wire

import (
	"encoding/json"
	"net/http"

	"spokeshave.dev/simulator/awserr"
)

// JSON is AWS JSON 1.0 and 1.1: the operation in X-Amz-Target.
// https://smithy.io/2.0/aws/protocols/aws-json-1_1-protocol.html
type JSON struct {
	// ContentType is that of the request, which the answer repeats.
	ContentType string
	// QueryNames adds the older error names, as SQS does.
	QueryNames bool
}

// Answer implements Format.
func (p JSON) Answer(w http.ResponseWriter, id ID, result any) {
	writeJSON(w, id, p.ContentType, http.StatusOK, result)
}

// Refuse implements Format.
func (p JSON) Refuse(w http.ResponseWriter, id ID, f *awserr.Error) {
	w.Header().Set("X-Amzn-Errortype", f.Code)
	if p.QueryNames {
		w.Header().Set("X-Amzn-Query-Error", queryName(f.Code)+";Sender")
	}
	writeJSON(w, id, p.ContentType, f.HTTPStatus(), map[string]string{"__type": f.Code, "message": f.Message})
}

// REST is REST JSON, that of EKS and zonal shift.
type REST struct{}

// Answer implements Format.
func (REST) Answer(w http.ResponseWriter, id ID, result any) {
	writeJSON(w, id, "application/json", http.StatusOK, result)
}

// Refuse implements Format.
func (REST) Refuse(w http.ResponseWriter, id ID, f *awserr.Error) {
	w.Header().Set("X-Amzn-Errortype", f.Code)
	writeJSON(w, id, "application/json", f.HTTPStatus(), map[string]string{"message": f.Message})
}

func writeJSON(w http.ResponseWriter, id ID, contentType string, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("X-Amzn-Requestid", id.Request)
	w.WriteHeader(status)
	if _, err := w.Write(text); err != nil {
		return // the client has gone
	}
}

// queryName is an error's name in SQS's older protocol.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/CommonErrors.html
func queryName(code string) string {
	if code == "com.amazonaws.sqs#QueueDoesNotExist" {
		return "AWS.SimpleQueueService.NonExistentQueue"
	}
	return code
}
