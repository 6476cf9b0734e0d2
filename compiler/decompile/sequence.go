package decompile

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var numberFormat = regexp.MustCompile(`^[^%]*%[0-9]*[dxX][^%]*$`)

// sequence writes the items of a withSequence as JSON.
func (r steps) sequence(o *object) string {
	number := func(key string) int {
		text := o.text(key)
		n, err := strconv.Atoi(text)
		if text != "" && err != nil {
			o.fault("%s is %q: sequences whose length is known only when the workflow runs cannot be expressed in the DSL", key, text)
		}
		return n
	}
	start, end, count := number("start"), number("end"), number("count")
	format := o.text("format")
	if format != "" && !numberFormat.MatchString(format) {
		o.fault("format %q cannot be expressed in the DSL", format)
		format = ""
	}
	step := 1
	switch {
	case o.has("count"):
		end = start + count - 1
	case end < start:
		step = -1
	}
	o.finish()
	const most = 10000
	var items []string
	for n := start; step*n <= step*end && len(items) < most; n += step {
		item := strconv.Itoa(n)
		if format != "" {
			item = encode(fmt.Sprintf(format, n))
		}
		items = append(items, item)
	}
	if len(items) == 0 || len(items) == most {
		o.fault("a sequence of %d items cannot be expressed in the DSL", len(items))
	}
	return "[" + strings.Join(items, ",") + "]"
}
