package client

import (
	"bufio"
	"bytes"
	"io"
)

// maxEvent bounds one line of an event stream, in bytes.
const maxEvent = 64 << 20

// event is one server-sent event.
type event struct {
	id, name string
	data     []byte
}

// readEvents parses a stream of server-sent events and hands each to take, until that says false or the stream ends
// (io.ErrUnexpectedEOF). alive is called for every line, comments included.
func readEvents(r io.Reader, alive func(), take func(event) bool) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), maxEvent)
	var e event
	var id string
	for lines.Scan() {
		alive()
		line := bytes.TrimSuffix(lines.Bytes(), []byte("\r"))
		if len(line) == 0 {
			if e.data != nil || e.name != "" {
				e.id = id
				if !take(e) {
					return nil
				}
			}
			e = event{}
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "id":
			id = string(value)
		case "event":
			e.name = string(value)
		case "data":
			if e.data != nil {
				e.data = append(e.data, '\n')
			}
			e.data = append(e.data, value...)
			if e.data == nil {
				e.data = []byte{}
			}
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return io.ErrUnexpectedEOF
}
