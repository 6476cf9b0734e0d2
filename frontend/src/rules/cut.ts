/** The most that the server tries, in bytes. */
const most = 4 << 20;

/** The end of a log that the server tries, from the beginning of a line. */
export function lastPart(log: string, limit = most): string {
  const bytes = new TextEncoder().encode(log);
  if (bytes.length <= limit) return log;
  const end = new TextDecoder().decode(bytes.subarray(bytes.length - limit));
  return end.slice(end.indexOf('\n') + 1);
}

/** The rules in a text, one in each line. */
export const rulesOf = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
