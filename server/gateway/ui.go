package gateway

import (
	"io/fs"
	"net/http"
	"path"
	"strings"
)

// noUI is the page of a server that was built without the UI.
const noUI = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Argosy</title>
<h1>Argosy is serving, without its web UI</h1>
<p>This binary was built without it. <code>make build</code> makes <code>bin/argosy</code> with the UI inside (it needs Node 20).</p>
<p>The API is there: <a href="/apis/v1beta1/healthz">/apis/v1beta1/healthz</a>, <a href="/apis/openapi.yaml">/apis/openapi.yaml</a>.</p>
</html>
`

// ui serves the files of the UI. The UI has pages of its own below /, so unknown paths get its index.html.
func ui(files fs.FS) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			http.Error(w, http.StatusText(http.StatusMethodNotAllowed), http.StatusMethodNotAllowed)
			return
		}
		name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
		asset := strings.HasPrefix(name, "assets/")
		switch {
		case name == "apis":
			http.NotFound(w, r)
			return
		case files == nil:
			serve("text/html; charset=utf-8", []byte(noUI))(w, r)
			return
		case name != "" && isFile(files, name):
		case asset: // a script of another build: index.html in its place would only confuse
			http.NotFound(w, r)
			return
		default:
			name = "index.html"
		}
		if asset { // their names change with their content
			w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		} else {
			w.Header().Set("Cache-Control", "no-cache")
		}
		http.ServeFileFS(w, r, files, name)
	})
}

func isFile(files fs.FS, name string) bool {
	info, err := fs.Stat(files, name)
	return err == nil && !info.IsDir()
}

// serve answers with a fixed body.
func serve(contentType string, body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Cache-Control", "no-cache")
		w.Write(body) //nolint:errcheck // the client went away
	}
}
