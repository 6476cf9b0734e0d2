#!/bin/sh
# What go:embed reads is what runs: $$, $(HOME), "quotes", 'quotes', \n, ünï 日本, {x} }}.
	total=0
for word in "$@"; do
	total=$((total + 1))
done

printf '%s words, HOME is %s, $(HOME)\n' "$total" "${HOME}" # trailing blanks   
