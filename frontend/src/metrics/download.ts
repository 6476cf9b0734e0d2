/** Saves something as a file of the reader. */
export function save(content: Blob, name: string) {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = fileName(name);
  link.click();
  // The browser has taken the address over by the next turn.
  setTimeout(() => URL.revokeObjectURL(url), 0);
}

// Names of metrics and artifacts may hold what no file name may.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is to be replaced
const odd = /[\u0000-\u001f\\/:*?"<>|]+/g;

const fileName = (name: string) => name.replace(odd, '_');

/** Saves a drawn chart, on its background. */
export function savePicture(canvas: HTMLCanvasElement, background: string, name: string) {
  const copy = document.createElement('canvas');
  copy.width = canvas.width;
  copy.height = canvas.height;
  const context = copy.getContext('2d');
  if (!context) return;
  context.fillStyle = background;
  context.fillRect(0, 0, copy.width, copy.height);
  context.drawImage(canvas, 0, 0);
  copy.toBlob((blob) => blob && save(blob, name));
}
