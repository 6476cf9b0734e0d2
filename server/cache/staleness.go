package cache

import (
	"fmt"
	"regexp"
	"strconv"
	"time"
)

// duration is one of ISO 8601, as in P30D or PT12H30M.
var duration = regexp.MustCompile(`^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$`)

const day = 24 * time.Hour

// units are those of duration's groups. Years and months are as long as KFP v1 takes them to be.
var units = []time.Duration{365 * day, 30 * day, 7 * day, day, time.Hour, time.Minute, time.Second}

// MaxAge parses the greatest age of an entry (KFP v1's max_cache_staleness), an ISO 8601 duration. Empty text means unlimited; a zero
// duration such as P0D disables the cache.
func MaxAge(text string) (age time.Duration, limited bool, err error) {
	if text == "" {
		return 0, false, nil
	}
	parts := duration.FindStringSubmatch(text)
	if parts == nil || text[len(text)-1] == 'P' || text[len(text)-1] == 'T' {
		return 0, true, fmt.Errorf("max_cache_staleness %q is not an ISO 8601 duration, such as P30D, PT12H or P0D", text)
	}
	for i, unit := range units {
		if parts[i+1] == "" {
			continue
		}
		n, err := strconv.ParseInt(parts[i+1], 10, 32)
		if err != nil || time.Duration(n) > (1<<63-1-age)/unit {
			return 0, true, fmt.Errorf("max_cache_staleness %q is too long", text)
		}
		age += time.Duration(n) * unit
	}
	return age, true, nil
}
