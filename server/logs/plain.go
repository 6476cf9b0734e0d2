package logs

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/artifact"
)

// IsPlain tells the keys of logs that servers before 0.3 kept: one gzipped object for each step, written at its end.
func IsPlain(key string) bool { return strings.HasSuffix(key, ".log.gz") }

// OpenPlain reads such a log; the caller closes it.
func OpenPlain(ctx context.Context, store artifact.Store, key string) (io.ReadCloser, error) {
	packed, err := store.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	text, err := gzip.NewReader(packed)
	if err != nil {
		return nil, errors.Join(apierr.New(apierr.Internal, "the archived log is damaged").Because(err), packed.Close())
	}
	return unzipped{text, packed}, nil
}

// unzipped closes the object under the decompressor too.
type unzipped struct {
	*gzip.Reader
	packed io.Closer
}

func (u unzipped) Close() error { return errors.Join(u.Reader.Close(), u.packed.Close()) }

// PlainLines gives the lines of such a log, which have no times, from number from on.
func PlainLines(text io.ReadCloser, from int64) Lines {
	return &plainLines{text: text, lines: bufio.NewReaderSize(text, maxLine), from: from}
}

type plainLines struct {
	text   io.ReadCloser
	lines  *bufio.Reader
	from   int64
	number int64 // of the last line
}

func (p *plainLines) Next(ctx context.Context) ([]Line, error) {
	for ctx.Err() == nil {
		text, err := p.lines.ReadSlice('\n') // as long as a line may be
		if len(text) == 0 {
			return nil, err
		}
		if p.number++; p.number < p.from {
			continue
		}
		line := Line{Number: p.number, Text: []byte(strings.TrimSuffix(string(text), "\n")), Partial: errors.Is(err, io.EOF)}
		return []Line{line}, nil
	}
	return nil, ctx.Err()
}

func (p *plainLines) Close() { p.text.Close() }
