import type { Place } from '../api/logs';

/** A line cut at its matches: every second piece is a match. */
export function cut(line: string, words: string): string[] {
  const pieces: string[] = [];
  const low = line.toLowerCase();
  const needle = words.toLowerCase();
  let from = 0;
  for (let at = low.indexOf(needle); needle && at >= 0; at = low.indexOf(needle, from)) {
    pieces.push(line.slice(from, at), line.slice(at, at + needle.length));
    from = at + needle.length;
  }
  pieces.push(line.slice(from));
  return pieces;
}

/** The line of a link such as #L120, or #L120@LOG; undefined when it is something else. */
export function placeOfHash(hash: string): Place | undefined {
  const found = /^#?L(\d+)(?:@(.+))?$/.exec(hash);
  return found ? { line: Number(found[1]), log: found[2] } : undefined;
}

export const hashOf = ({ log, line }: Place) => (log ? `L${line}@${log}` : `L${line}`);
