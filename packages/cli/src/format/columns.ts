const GLUE = '    ';

const width = (text: string): number => [...text].length;

/** Rows in aligned columns, four spaces apart; an empty cell shows as `n/a`, the last column is not padded. */
export function alignColumns(rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) => row.map((cell) => (cell === '' ? 'n/a' : cell)));
  const widths: number[] = [];
  for (const row of cells) row.forEach((cell, column) => (widths[column] = Math.max(widths[column] ?? 0, width(cell))));
  return cells
    .map((row) =>
      row.map((cell, column) => (column === row.length - 1 ? cell : cell + ' '.repeat((widths[column] ?? 0) - width(cell)))).join(GLUE),
    )
    .join('\n');
}

/** Columns under a header, with a row of dashes as long as each header word. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  return alignColumns([header, header.map((word) => '-'.repeat(width(word))), ...rows]);
}

/** `=== Title ===`, centred over `total` characters. */
export function banner(title: string, total: number): string {
  const free = Math.max(4, total - width(title) - 2);
  const side = '='.repeat(Math.ceil(free / 2));
  return `${side} ${title} ${side}`;
}

/** A banner as wide as the Key/Value table that follows it. */
export function bannerOver(title: string, keys: Iterable<string>): string {
  return banner(title, Math.max(0, ...[...keys].map(width)) + GLUE.length + 'Value'.length);
}
