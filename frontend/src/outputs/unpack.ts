/** A file out of an artifact. */
export interface Member {
  name: string;
  /** As the archive says; what bytes has may be less. */
  size: number;
  bytes: Uint8Array<ArrayBuffer>;
}

export interface Unpacked {
  files: Member[];
  /** More was there than is read for a look. */
  cut: boolean;
}

/** At most this much is unpacked for a look: a small archive may hold gigabytes. */
export const mostUnpacked = 16 << 20;

/** The files in an artifact: those of a .tar.gz or .tar, else itself. */
export async function unpack(stored: Uint8Array<ArrayBuffer>, name: string): Promise<Unpacked> {
  const zipped = stored[0] === 0x1f && stored[1] === 0x8b;
  const { bytes, cut } = zipped ? await gunzip(stored) : { bytes: stored, cut: false };
  const files = isTar(bytes) ? untar(bytes) : [{ name, size: bytes.length, bytes }];
  return { files, cut };
}

async function gunzip(stored: Uint8Array<ArrayBuffer>): Promise<{ bytes: Uint8Array<ArrayBuffer>; cut: boolean }> {
  const reader = new Blob([stored]).stream().pipeThrough(new DecompressionStream('gzip')).getReader();
  const chunks: BlobPart[] = [];
  let size = 0;
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    chunks.push(read.value);
    size += read.value.length;
    if (size > mostUnpacked) {
      void reader.cancel();
      return { bytes: await whole(chunks), cut: true };
    }
  }
  return { bytes: await whole(chunks), cut: false };
}

const whole = async (chunks: BlobPart[]) => new Uint8Array(await new Blob(chunks).arrayBuffer());

const block = 512;
const ascii = new TextDecoder('latin1');
const utf8 = new TextDecoder();

const isTar = (bytes: Uint8Array) => bytes.length >= block && ascii.decode(bytes.subarray(257, 262)) === 'ustar';

function untar(bytes: Uint8Array<ArrayBuffer>): Member[] {
  const files: Member[] = [];
  let long = '';
  for (let at = 0; at + block <= bytes.length && bytes[at] !== 0; ) {
    const field = (from: number, length: number) =>
      utf8.decode(bytes.subarray(at + from, at + from + length)).replace(/\0[\s\S]*$/, '');
    const size = sizeOf(bytes.subarray(at + 124, at + 136));
    if (!Number.isSafeInteger(size) || size < 0) break;
    const type = field(156, 1);
    const content = bytes.slice(at + block, at + block + size);
    if (type === 'L' || type === 'x') long = longName(type, utf8.decode(content)) || long;
    else if (type === '0' || type === '') {
      const prefix = field(345, 155);
      files.push({ name: long || (prefix && `${prefix}/`) + field(0, 100), size, bytes: content });
      long = '';
    } else long = '';
    at += block + Math.ceil(size / block) * block;
  }
  return files;
}

// Sizes are octal, or binary when the first bit is set.
function sizeOf(field: Uint8Array): number {
  if ((field[0] ?? 0) & 0x80) return field.subarray(4).reduce((sum, byte) => sum * 256 + byte, 0);
  return Number.parseInt(ascii.decode(field).replace(/[\0 ]/g, '') || '0', 8);
}

// GNU's long names are the content itself, POSIX's a line "30 path=NAME" of it.
function longName(type: string, content: string): string {
  if (type === 'L') return content.replace(/\0[\s\S]*$/, '');
  return /^\d+ path=(.*)$/m.exec(content)?.[1] ?? '';
}
