package sqlstore

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
)

// maxText bounds what a stored text may unpack to; far above what is ever put in.
const maxText = 256 << 20

// Both are safe for concurrent use by EncodeAll and DecodeAll.
var (
	packer = sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil, zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(1<<20))
		if err != nil {
			panic(err) // only wrong options can cause it
		}
		return e
	})
	unpacker = sync.OnceValue(func() *zstd.Decoder {
		d, err := zstd.NewReader(nil, zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(maxText))
		if err != nil {
			panic(err) // only wrong options can cause it
		}
		return d
	})
)

func pack(text []byte) []byte { return packer().EncodeAll(text, nil) }

func unpack(data []byte) ([]byte, error) {
	text, err := unpacker().DecodeAll(data, nil)
	if err != nil {
		return nil, trouble("unpack", err)
	}
	return text, nil
}

// digest tells whether bytes changed; it guards against needless writes, not against anyone.
func digest(data []byte) int64 {
	h := fnv.New64a()
	h.Write(data)
	return int64(h.Sum64())
}

func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func timeOf(micros int64) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros).UTC()
}

// toJSON is for values that always marshal: slices and structs of strings.
func toJSON(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("store: %T does not marshal: %v", v, err))
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

func fromJSON(text string, v any) error {
	if text == "" || text == "null" { // as most lists of most nodes are
		return nil
	}
	return trouble("decode", json.Unmarshal([]byte(text), v))
}
