package wire

import (
	"bytes"
	"encoding/xml"
	"net/http"

	"spokeshave.dev/simulator/awserr"
)

// EC2 answers with the result's members directly in the response.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html#api-error-response
type EC2 struct{}

// Answer implements Format.
func (EC2) Answer(w http.ResponseWriter, id ID, result any) {
	writeXML(w, id, http.StatusOK, xmlParts{
		open:  "<" + id.Action + `Response xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><requestId>` + id.Request + "</requestId>",
		body:  result,
		close: "</" + id.Action + "Response>",
	})
}

// Refuse implements Format.
func (EC2) Refuse(w http.ResponseWriter, id ID, f *awserr.Error) {
	type failure struct{ Code, Message string }
	writeXML(w, id, f.HTTPStatus(), xmlParts{
		open:  "<Response><Errors><Error>",
		body:  failure{f.Code, f.Message},
		close: "</Error></Errors><RequestID>" + id.Request + "</RequestID></Response>",
	})
}

// Query is that of IAM and STS.
// https://docs.aws.amazon.com/IAM/latest/APIReference/CommonErrors.html
type Query struct {
	// Namespace is that of the service's XML.
	Namespace string
}

// Answer implements Format.
func (p Query) Answer(w http.ResponseWriter, id ID, result any) {
	writeXML(w, id, http.StatusOK, xmlParts{
		open:  "<" + id.Action + `Response xmlns="` + p.Namespace + `"><` + id.Action + "Result>",
		body:  result,
		close: "</" + id.Action + "Result><ResponseMetadata><RequestId>" + id.Request + "</RequestId></ResponseMetadata></" + id.Action + "Response>",
	})
}

// Refuse implements Format.
func (p Query) Refuse(w http.ResponseWriter, id ID, f *awserr.Error) {
	type failure struct{ Type, Code, Message string }
	kind := "Sender"
	if f.HTTPStatus() >= http.StatusInternalServerError {
		kind = "Receiver"
	}
	writeXML(w, id, f.HTTPStatus(), xmlParts{
		open:  `<ErrorResponse xmlns="` + p.Namespace + `"><Error>`,
		body:  failure{kind, f.Code, f.Message},
		close: "</Error><RequestId>" + id.Request + "</RequestId></ErrorResponse>",
	})
}

// xmlParts is a document of which only the middle varies in shape.
type xmlParts struct {
	open  string
	body  any
	close string
}

func writeXML(w http.ResponseWriter, id ID, status int, parts xmlParts) {
	const wrap = "x"
	var b bytes.Buffer
	if err := xml.NewEncoder(&b).EncodeElement(parts.body, xml.StartElement{Name: xml.Name{Local: wrap}}); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	inner := bytes.TrimSuffix(bytes.TrimPrefix(b.Bytes(), []byte("<"+wrap+">")), []byte("</"+wrap+">"))
	w.Header().Set("Content-Type", "text/xml;charset=UTF-8")
	w.Header().Set("X-Amzn-Requestid", id.Request)
	w.WriteHeader(status)
	for _, part := range [][]byte{[]byte(xml.Header), []byte(parts.open), inner, []byte(parts.close)} {
		if _, err := w.Write(part); err != nil {
			return // the client has gone
		}
	}
}
