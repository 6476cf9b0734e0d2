package plane

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnswersAreKept(t *testing.T) {
	t.Parallel()
	asked := 0
	k := &kept{make: func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked == 1 {
			http.Error(w, "not yet", http.StatusInternalServerError)
			return
		}
		_, _ = io.WriteString(w, `{"paths":{}}`)
	}}
	ask := func() *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		k.ServeHTTP(w, httptest.NewRequest(http.MethodGet, openAPI, nil))
		return w
	}
	require.Equal(t, http.StatusInternalServerError, ask().Code)
	for range 3 {
		w := ask()
		require.Equal(t, http.StatusOK, w.Code)
		require.JSONEq(t, `{"paths":{}}`, w.Body.String())
	}
	require.Equal(t, 2, asked, "a failure is not kept, an answer is")
}
