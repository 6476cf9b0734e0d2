package notebook

import (
	"encoding/xml"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/sdk/scaling"
)

func TestScaling(t *testing.T) {
	t.Parallel()
	var runs []scaling.Run
	for i, value := range []float64{100, 101, 99, 102, 180, 181, 179, 183} {
		workers := 1 + i/4
		runs = append(runs, scaling.Run{Name: strconv.Itoa(i), Value: &value, World: workers, Parameters: map[string]string{"workers": strconv.Itoa(workers)}})
	}
	runs = append(runs, scaling.Run{Name: "<lost>", Failure: "no & more", Parameters: map[string]string{"workers": "4"}})
	r, err := scaling.New(runs, scaling.Options{Metric: "images/sec"})
	require.NoError(t, err)
	page := written(t, scalingPage(r))
	require.Contains(t, page, r.Verdicts[0])
	require.Contains(t, page, "<td>&lt;lost&gt;</td>")
	require.Contains(t, page, "no &amp; more")
	require.Equal(t, 2, strings.Count(page, `<svg xmlns="http://www.w3.org/2000/svg"`), "throughput and efficiency")
	for _, part := range strings.Split(page, "<svg ")[1:] {
		d := xml.NewDecoder(strings.NewReader("<svg " + part[:strings.Index(part, "</svg>")+6]))
		for err == nil {
			_, err = d.Token()
		}
		require.True(t, errors.Is(err, io.EOF), err)
		err = nil
	}
	require.ErrorIs(t, Scaling(r), errNoNotebook)
}
