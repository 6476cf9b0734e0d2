/** The rows of a CSV text, at most so many. Cells may be quoted. */
export function csvRows(text: string, most: number): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = '';
  let quoted = false;
  const endRow = () => {
    if (row.length > 0 || cell !== '') rows.push([...row, cell]);
    row = [];
    cell = '';
  };
  for (let i = 0; i < text.length && rows.length < most; i++) {
    const letter = text[i] as string;
    if (quoted) {
      if (letter !== '"') cell += letter;
      else if (text[i + 1] === '"') cell += text[++i];
      else quoted = false;
    } else if (letter === '"' && cell === '') quoted = true;
    else if (letter === ',') {
      row.push(cell);
      cell = '';
    } else if (letter === '\n') endRow();
    else if (letter !== '\r') cell += letter;
  }
  if (rows.length < most) endRow();
  return rows;
}
