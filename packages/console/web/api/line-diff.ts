/** One line of a comparison; `old` and `new` are line numbers from 1. */
export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed';
  readonly text: string;
  readonly old?: number;
  readonly new?: number;
}

/** More cells than this, and what lies between the common beginning and end is shown as replaced whole. */
const MOST_CELLS = 4_000_000;

/** Which lines were added and removed, by the longest common subsequence. */
export function lineDiff(before: string, after: string): DiffLine[] {
  const a = before.split('\n');
  const b = after.split('\n');
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const lines: DiffLine[] = [];
  const same = (i: number, j: number): void => void lines.push({ kind: 'same', text: a[i]!, old: i + 1, new: j + 1 });
  for (let i = 0; i < head; i++) same(i, i);
  lines.push(...middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail), head));
  for (let i = tail; i > 0; i--) same(a.length - i, b.length - i);
  return lines;
}

function middle(a: readonly string[], b: readonly string[], offset: number): DiffLine[] {
  const removed = (i: number): DiffLine => ({ kind: 'removed', text: a[i]!, old: offset + i + 1 });
  const added = (j: number): DiffLine => ({ kind: 'added', text: b[j]!, new: offset + j + 1 });
  if (a.length * b.length > MOST_CELLS) return [...a.map((_, i) => removed(i)), ...b.map((_, j) => added(j))];
  const width = b.length + 1;
  const common = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const [below, right] = [common[(i + 1) * width + j]!, common[i * width + j + 1]!];
      common[i * width + j] = a[i] === b[j] ? common[(i + 1) * width + j + 1]! + 1 : Math.max(below, right);
    }
  }
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) lines.push({ kind: 'same', text: a[i]!, old: offset + ++i, new: offset + ++j });
    else if (j >= b.length || (i < a.length && common[(i + 1) * width + j]! >= common[i * width + j + 1]!)) lines.push(removed(i++));
    else lines.push(added(j++));
  }
  return lines;
}
