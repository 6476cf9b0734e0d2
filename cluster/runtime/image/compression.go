package image

import (
	"bufio"
	"bytes"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

var (
	gzipMagic = []byte{0x1f, 0x8b}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

// maxWindow bounds the memory that a zstd stream can ask for; the format's own tools stop at 128 MiB too.
const maxWindow = 128 << 20

// decompress reads what is packed with gzip or zstd, or not at all. What the
// data begins with decides; media types have been wrong before.
func decompress(r io.Reader) (io.ReadCloser, error) {
	b := bufio.NewReaderSize(r, 64<<10)
	start, err := b.Peek(4)
	switch {
	case bytes.HasPrefix(start, gzipMagic):
		return gzip.NewReader(b)
	case bytes.HasPrefix(start, zstdMagic):
		d, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	case err != nil && err != io.EOF:
		return nil, err
	}
	return io.NopCloser(b), nil
}

// compressed says whether a file begins like a packed one.
func compressed(start []byte) bool {
	return bytes.HasPrefix(start, gzipMagic) || bytes.HasPrefix(start, zstdMagic)
}
