export type Kind = 'html' | 'image' | 'json' | 'csv' | 'text' | 'binary';

const images: [string, number[]][] = [
  ['image/png', [0x89, 0x50, 0x4e, 0x47]],
  ['image/jpeg', [0xff, 0xd8, 0xff]],
  ['image/gif', [0x47, 0x49, 0x46, 0x38]],
  ['image/bmp', [0x42, 0x4d]],
];

/** The type of an image; undefined when it is none that is shown. */
export function imageType(bytes: Uint8Array): string | undefined {
  const found = images.find(([, magic]) => magic.every((byte, i) => bytes[i] === byte));
  if (found) return found[0];
  const riff = new TextDecoder('latin1').decode(bytes.subarray(0, 12));
  return riff.startsWith('RIFF') && riff.endsWith('WEBP') ? 'image/webp' : undefined;
}

/** The text that bytes are; undefined when they are none. A last character may be cut off. */
export function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.subarray(0, 8192).includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
  } catch {
    return undefined;
  }
}

/** What a file is: by its content, and by its name where the content says nothing. */
export function kindOf(name: string, bytes: Uint8Array): Kind {
  if (imageType(bytes)) return 'image';
  const text = textOf(bytes);
  if (text === undefined) return 'binary';
  if (
    /^\s*<(!doctype\s+html|html|head|body|h[1-6]|div|p|table|svg|section|style|script)\b/i.test(text) ||
    /\.html?$/i.test(name)
  ) {
    return 'html';
  }
  if (/^\s*[[{]/.test(text) && isJSON(text)) return 'json';
  if (/\.csv$/i.test(name) || looksLikeCSV(text)) return 'csv';
  return 'text';
}

function isJSON(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

// The first lines have equally many commas, and there are at least two lines.
function looksLikeCSV(text: string): boolean {
  const lines = text.split('\n', 6).filter(Boolean).slice(0, 5);
  const commas = lines.map((line) => line.split(',').length - 1);
  return lines.length > 1 && (commas[0] ?? 0) > 0 && commas.every((count) => count === commas[0]);
}
