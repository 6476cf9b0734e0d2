import { plain } from './lines';

/** Indexes of the lines that hold the words, whatever their case. */
export function matches(lines: string[], words: string): number[] {
  if (words === '') return [];
  const needle = words.toLowerCase();
  const found: number[] = [];
  for (let i = 0; i < lines.length; i++) {
    if (
      plain(lines[i] as string)
        .toLowerCase()
        .includes(needle)
    )
      found.push(i);
  }
  return found;
}

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

/** Line number of a link such as #L120; undefined when it is something else. */
export function lineOfHash(hash: string): number | undefined {
  const found = /^#?L(\d+)$/.exec(hash);
  return found ? Number(found[1]) : undefined;
}

// "errors: 0" and "no error" tell of none.
const error =
  /(?<!no )(?<!\w)(error|exception|traceback|fatal|panic|segmentation fault|oomkilled)\b(?!s?\s*[:=]\s*0\b)|\w(Error|Exception)\b/i;

/** The first line that tells of an error; -1 when none does. */
export const firstError = (lines: string[]) => lines.findIndex((line) => error.test(plain(line)));
