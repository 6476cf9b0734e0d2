package logs

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/argosy-ml/argosy/server/apierr"
)

// A part is an object of the artifact store: a zstd skippable frame that holds a header as JSON, and behind it the chunks,
// each a zstd frame of lines: the time, a space, the text, a line feed (the last line of a log may have none). So
// `zstd -dc` prints it as `kubectl logs --timestamps` would.
// Format of the frames: https://datatracker.ietf.org/doc/html/rfc8878#section-3.1.2

// Sizes. A part is written again with each save until it is full, so it is small; it is read whole.
const (
	chunkSize = 128 << 10 // of text with times, before compression
	partSize  = 4 << 20   // the same of a whole part
	packSize  = 512 << 10 // of a part, compressed
	maxPart   = 4 * partSize
	maxHeader = 64 << 10
	maxCount  = 1 << 60 // of lines and bytes before a part
)

const skippable = 0x184D2A5A

// stampFormat is how times are written: always of the same width.
const (
	stampFormat = "2006-01-02T15:04:05.000000000Z"
	stampWidth  = len(stampFormat)
)

type header struct {
	Version  int      `json:"v"`
	First    int64    `json:"first"` // lines before it
	Before   int64    `json:"before"`
	Chunks   []chunk  `json:"chunks"`
	Position position `json:"at"` // of the source, behind the last line
	State    string   `json:"state,omitempty"`
	Message  string   `json:"message,omitempty"`
}

// chunk says what one frame of a part holds.
type chunk struct {
	Packed int       `json:"packed"` // bytes in the object
	Raw    int       `json:"raw"`    // bytes of lines with times
	Lines  int64     `json:"lines"`
	Bytes  int64     `json:"bytes"` // of text
	LastAt time.Time `json:"last"`
}

// part is one that is being written: whole chunks, and the lines behind them. What a reader took of it stays as it is.
type part struct {
	first, before int64
	chunks        []chunk
	packed        [][]byte
	raw, size     int // of chunks
	tail          []byte
	open          chunk // of tail
}

func (p *part) lines() int64 {
	n := p.first + p.open.Lines
	for _, c := range p.chunks {
		n += c.Lines
	}
	return n
}

func (p *part) bytes() int64 {
	n := p.before + p.open.Bytes
	for _, c := range p.chunks {
		n += c.Bytes
	}
	return n
}

func (p *part) lastAt() time.Time {
	if p.open.Lines > 0 || len(p.chunks) == 0 {
		return p.open.LastAt
	}
	return p.chunks[len(p.chunks)-1].LastAt
}

func (p *part) full() bool { return p.raw+len(p.tail) >= partSize || p.size >= packSize }

// add appends a line; one without an end must be the last of its log.
func (p *part) add(at time.Time, text []byte, whole bool) {
	p.tail = at.UTC().AppendFormat(p.tail, stampFormat)
	p.tail = append(p.tail, ' ')
	p.tail = append(p.tail, text...)
	if whole {
		p.tail = append(p.tail, '\n')
	}
	p.open.Lines++
	p.open.Bytes += int64(len(text)) + 1
	p.open.LastAt = at
	if len(p.tail) >= chunkSize {
		p.pack()
	}
}

// pack makes a chunk of the tail. A new tail has memory of its own: readers hold the old one.
func (p *part) pack() {
	if len(p.tail) == 0 {
		return
	}
	packed := zipper().EncodeAll(p.tail, nil)
	p.open.Packed, p.open.Raw = len(packed), len(p.tail)
	p.chunks, p.packed = append(p.chunks, p.open), append(p.packed, packed)
	p.raw, p.size = p.raw+p.open.Raw, p.size+p.open.Packed
	p.tail, p.open = nil, chunk{}
}

// object writes the part as it is now.
func (p part) object(at position, state, message string) []byte {
	p.chunks, p.packed = p.chunks[:len(p.chunks):len(p.chunks)], p.packed[:len(p.packed):len(p.packed)]
	p.pack()
	h, err := json.Marshal(header{1, p.first, p.before, p.chunks, at, state, message})
	if err != nil {
		panic(fmt.Sprintf("logs: a header does not marshal: %v", err)) // it is of numbers and times
	}
	b := binary.LittleEndian.AppendUint32(make([]byte, 0, 8+len(h)+p.size), skippable)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(h)))
	b = append(b, h...)
	for _, packed := range p.packed {
		b = append(b, packed...)
	}
	return b
}

// stored is a part that was read back.
type stored struct {
	header
	packed [][]byte
}

// parsePart reads an object. It may be anyone's: nothing in it is believed that was not checked.
func parsePart(object []byte) (stored, error) {
	if len(object) < 8 || binary.LittleEndian.Uint32(object) != skippable {
		return stored{}, damaged("it does not begin as one")
	}
	size := int64(binary.LittleEndian.Uint32(object[4:]))
	if size > maxHeader*4 || size > int64(len(object)-8) {
		return stored{}, damaged("its header does not fit")
	}
	var s stored
	if err := json.Unmarshal(object[8:8+size], &s.header); err != nil {
		return stored{}, damaged("its header cannot be read").Because(err)
	}
	if s.Version != 1 {
		return stored{}, damaged("it is of version %d, which this server does not know", s.Version)
	}
	rest := object[8+size:]
	raw := 0
	for _, c := range s.Chunks {
		if c.Packed <= 0 || c.Packed > len(rest) || c.Raw < 0 || c.Raw > maxPart || c.Lines < 1 || c.Lines > int64(c.Raw) || c.Bytes < 0 || c.Bytes > int64(c.Raw) {
			return stored{}, damaged("its chunks do not fit")
		}
		if raw += c.Raw; raw > maxPart {
			return stored{}, damaged("its chunks do not fit")
		}
		s.packed = append(s.packed, rest[:c.Packed:c.Packed])
		rest = rest[c.Packed:]
	}
	if s.First < 0 || s.First > maxCount || s.Before < 0 || s.Before > maxCount || len(rest) > 0 {
		return stored{}, damaged("its numbers do not fit")
	}
	return s, nil
}

// readPart reads a part from the artifact store's stream.
func readPart(r io.Reader) (stored, error) {
	var b bytes.Buffer
	n, err := b.ReadFrom(io.LimitReader(r, maxPart+1))
	if err != nil {
		return stored{}, apierr.New(apierr.Unavailable, "the archived log broke off").Because(err)
	}
	if n > maxPart {
		return stored{}, damaged("it is too large")
	}
	return parsePart(b.Bytes())
}

// again makes the part one that can be written on.
func (s stored) again() (*part, error) {
	p := &part{first: s.First, before: s.Before, chunks: s.Chunks, packed: s.packed}
	for _, c := range s.Chunks {
		p.raw, p.size = p.raw+c.Raw, p.size+c.Packed
	}
	if n := len(s.Chunks); n > 0 && s.Chunks[n-1].Raw < chunkSize {
		last := s.Chunks[n-1]
		tail, err := unzip(s.packed[n-1], last)
		if err != nil {
			return nil, err
		}
		p.chunks, p.packed, p.tail = p.chunks[:n-1:n-1], p.packed[:n-1:n-1], tail
		p.raw, p.size = p.raw-last.Raw, p.size-last.Packed
		p.open = chunk{Lines: last.Lines, Bytes: last.Bytes, LastAt: last.LastAt}
	}
	return p, nil
}

// Both are safe for concurrent use by EncodeAll and DecodeAll.
var (
	zipper = sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil, zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(chunkSize), zstd.WithEncoderConcurrency(2))
		if err != nil {
			panic(err) // only wrong options can cause it
		}
		return e
	})
	unzipper = sync.OnceValue(func() *zstd.Decoder {
		d, err := zstd.NewReader(nil, zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(maxPart))
		if err != nil {
			panic(err) // only wrong options can cause it
		}
		return d
	})
)

func unzip(packed []byte, c chunk) ([]byte, error) {
	raw, err := unzipper().DecodeAll(packed, make([]byte, 0, c.Raw))
	if err != nil {
		return nil, damaged("a chunk of it cannot be unpacked").Because(err)
	}
	if len(raw) != c.Raw {
		return nil, damaged("a chunk of it is not as long as it should be")
	}
	lines := int64(bytes.Count(raw, []byte{'\n'}))
	if len(raw) > 0 && raw[len(raw)-1] != '\n' {
		lines++
	}
	if lines != c.Lines {
		return nil, damaged("a chunk of it has %d lines instead of %d", lines, c.Lines)
	}
	return raw, nil
}

// linesOf returns the lines of a chunk from number from on. The chunk begins with line number first.
func linesOf(raw []byte, first, from int64) ([]Line, error) {
	var lines []Line
	for n := first; len(raw) > 0; n++ {
		line, rest, whole := bytes.Cut(raw, []byte{'\n'})
		raw = rest
		if n < from {
			continue
		}
		if len(line) <= stampWidth || line[stampWidth] != ' ' {
			return nil, damaged("line %d has no time", n)
		}
		at, err := time.Parse(stampFormat, string(line[:stampWidth]))
		if err != nil {
			return nil, damaged("line %d has no time", n).Because(err)
		}
		lines = append(lines, Line{Number: n, At: at, Text: line[stampWidth+1:], Partial: !whole})
	}
	return lines, nil
}

func damaged(format string, args ...any) *apierr.Error {
	return apierr.New(apierr.Internal, "the archived log is damaged: "+format, args...)
}
