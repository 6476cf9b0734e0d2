package gateway

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode"

	"github.com/argosy-ml/argosy/server/apierr"
)

// downloadVerb ends the path of a download.
const downloadVerb = ":download"

var gzipMagic = []byte{0x1f, 0x8b}

// downloadArtifact streams an artifact as it is stored, whatever its size.
func (g *gateway) downloadArtifact(w http.ResponseWriter, r *http.Request) {
	name, ok := strings.CutSuffix(r.PathValue("artifact"), downloadVerb)
	if !ok {
		g.mux.ServeHTTP(w, r)
		return
	}
	ctx, cancel := g.streamContext(r)
	defer cancel()
	artifact, err := g.Runs.Reader.ReadArtifact(ctx, r.PathValue("run"), r.PathValue("node"), name)
	if err != nil {
		g.refuse(ctx, nil, nil, w, r, err)
		return
	}
	defer artifact.Close()
	content := bufio.NewReader(artifact)
	start, err := content.Peek(len(gzipMagic)) // a store that fails at once still gets an error answered
	if len(start) == 0 && err != nil && !errors.Is(err, io.EOF) {
		g.refuse(ctx, nil, nil, w, r, apierr.New(apierr.Internal, "artifact %q cannot be read from the artifact store", name).Because(err))
		return
	}
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": fileName(name, bytes.Equal(start, gzipMagic))}))
	g.stream(ctx, w, r, content, "application/octet-stream")
}

// longestFileName bounds the name of a downloaded file, in characters; file systems take 255 bytes.
const longestFileName = 60

// fileName makes a file's name of an artifact's: no folders, no hidden file, nothing that a terminal or a file manager acts on.
func fileName(artifact string, zipped bool) string {
	safe := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(artifact, "_"))
	safe = strings.Trim(safe, ". ")
	if runes := []rune(safe); len(runes) > longestFileName {
		safe = string(runes[:longestFileName])
	}
	if safe == "" {
		safe = "artifact"
	}
	if zipped && !strings.HasSuffix(safe, ".tgz") && !strings.HasSuffix(safe, ".gz") {
		safe += ".tgz"
	}
	return safe
}
