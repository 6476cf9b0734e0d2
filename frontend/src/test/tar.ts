/** A tar archive of files by their names. */
export function tarOf(files: Record<string, string>): Uint8Array<ArrayBuffer> {
  const parts = Object.entries(files).flatMap(([name, content]) => {
    const body = new TextEncoder().encode(content);
    const head = new Uint8Array(512);
    const write = (text: string, at: number) => head.set(new TextEncoder().encode(text), at);
    write(name, 0);
    write(body.length.toString(8).padStart(11, '0'), 124);
    write('0', 156);
    write('ustar\u000000', 257);
    return [head, body, new Uint8Array((512 - (body.length % 512)) % 512)];
  });
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 1024));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
