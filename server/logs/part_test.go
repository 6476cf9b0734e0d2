package logs

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/apierr"
)

// partOf writes lines as a part is written.
func partOf(lines int, width int) part {
	p := part{first: 7, before: 100}
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for i := range lines {
		at = at.Add(time.Millisecond)
		p.add(at, bytes.Repeat([]byte{byte('a' + i%26)}, width), true)
	}
	return p
}

// all reads every line of a part.
func (s stored) all() (lines []Line, err error) {
	first := s.First + 1
	for i, c := range s.Chunks {
		raw, err := unzip(s.packed[i], c)
		if err != nil {
			return nil, err
		}
		some, err := linesOf(raw, first, first)
		if err != nil {
			return nil, err
		}
		lines, first = append(lines, some...), first+c.Lines
	}
	return lines, nil
}

// withHeader is an object with another header.
func withHeader(object []byte, change func(*header)) []byte {
	size := binary.LittleEndian.Uint32(object[4:])
	var h header
	if err := json.Unmarshal(object[8:8+size], &h); err != nil {
		panic(err)
	}
	change(&h)
	text, err := json.Marshal(h)
	if err != nil {
		panic(err)
	}
	out := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, skippable), uint32(len(text)))
	return append(append(out, text...), object[8+size:]...)
}

// TestDamagedParts: whatever a header claims that is not so is said, and no reader waits for lines that are not there.
func TestDamagedParts(t *testing.T) {
	t.Parallel()
	object := partOf(3000, 100).object(position{}, Whole, "")
	for name, damage := range map[string]func(*header){
		"more lines":      func(h *header) { h.Chunks[0].Lines++ },
		"fewer lines":     func(h *header) { h.Chunks[1].Lines-- },
		"no lines":        func(h *header) { h.Chunks[0].Lines = 0 },
		"endless lines":   func(h *header) { h.Chunks[0].Lines = 1 << 62 },
		"a late start":    func(h *header) { h.First = 1<<63 - 1 },
		"a longer text":   func(h *header) { h.Chunks[0].Raw++ },
		"an endless text": func(h *header) { h.Chunks[0].Raw = maxPart + 1 },
		"a chunk less":    func(h *header) { h.Chunks = h.Chunks[1:] },
		"another version": func(h *header) { h.Version = 2 },
	} {
		s, err := parsePart(withHeader(object, damage))
		if err == nil {
			_, err = s.all()
		}
		require.Equal(t, apierr.Internal, apierr.KindOf(err), name)
		require.ErrorContains(t, err, "the archived log is damaged", name)
	}
}

// FuzzPart reads parts that may be anyone's: nothing of them makes the reader fail, take much memory or wait, and what
// can be read can be written on, and says the same then.
func FuzzPart(f *testing.F) {
	empty, few := part{}, partOf(3, 10)
	f.Add(few.object(position{Time: time.Unix(1, 0), Lines: 1}, Live, ""))
	f.Add(empty.object(position{}, Whole, ""))
	few.add(time.Unix(2, 0), []byte("no end"), false)
	f.Add(few.object(position{}, Cut, "why"))
	f.Add(withHeader(few.object(position{}, Live, ""), func(h *header) { h.Chunks[0].Lines = 2 }))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, object []byte) {
		s, err := parsePart(object)
		if err != nil {
			return
		}
		lines, err := s.all()
		if err != nil {
			return
		}
		for i, l := range lines {
			if l.Number != s.First+int64(i)+1 {
				t.Fatalf("line %d has number %d", i, l.Number)
			}
		}
		p, err := s.again()
		if err != nil {
			t.Fatalf("what can be read cannot be written on: %v", err)
		}
		if n := len(lines); n == 0 || !lines[n-1].Partial {
			p.add(time.Unix(3, 0), []byte("one more"), true)
			lines = append(lines, Line{Number: s.First + int64(n) + 1, At: time.Unix(3, 0).UTC(), Text: []byte("one more")})
		}
		again, err := parsePart(p.object(s.Position, s.State, s.Message))
		if err != nil {
			t.Fatalf("what was written on cannot be read: %v", err)
		}
		more, err := again.all()
		if err != nil {
			t.Fatalf("what was written on cannot be read: %v", err)
		}
		if got, want := fmt.Sprint(more), fmt.Sprint(lines); got != want {
			t.Fatalf("it says %s, and said %s", got, want)
		}
	})
}
