package scaling_test

import (
	"fmt"

	"github.com/argosy-ml/argosy/sdk/scaling"
)

// Two networks, six runs of each.
func ExampleNew() {
	var runs []scaling.Run
	for network, values := range map[string][]float64{
		"eni":  {3033.57, 3021.1, 3044.2, 3030.9, 3038.4, 3026.3},
		"host": {3001.91, 2990.4, 3012.8, 2998.1, 3006.6, 2995.2},
	} {
		for _, v := range values {
			runs = append(runs, scaling.Run{Name: network, Parameters: map[string]string{"network": network}, Value: &v, World: 16})
		}
	}
	report, err := scaling.New(runs, scaling.Options{Metric: "images/sec", By: "network", Base: "host"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Verdicts[0])
	// Output: eni 1.1 % faster than host (95 %: 0.6–1.5 %)
}
