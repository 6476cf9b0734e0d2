import { useEffect, useRef, useState } from 'react';

/** Text that is typed here and kept elsewhere, such as in the URL, which hears of it later: its echo never takes back what was typed since. */
export function useTyped(kept: string) {
  const [text, setText] = useState(kept);
  // What is kept, and after it what was sent and has not come back yet.
  const known = useRef([kept]);

  useEffect(() => {
    const at = known.current.lastIndexOf(kept);
    known.current = at < 0 ? [kept] : known.current.slice(at);
    // It changed without typing: back and forward, or a link.
    if (at < 0) setText(kept);
  }, [kept]);

  const sent = (value: string) => {
    if (known.current.at(-1) !== value) known.current.push(value);
  };
  return { text, setText, sent };
}

/** A choice that is kept elsewhere, such as in the URL: what is chosen shows at once, and the next choice builds on it. */
export function useChosen<T>(kept: T, send: (value: T) => void): [T, (value: T) => void] {
  const { text, setText, sent } = useTyped(JSON.stringify(kept));
  const choose = (value: T) => {
    const written = JSON.stringify(value);
    setText(written);
    sent(written);
    send(value);
  };
  return [JSON.parse(text) as T, choose];
}
