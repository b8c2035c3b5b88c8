import type { CrashReport } from './crash-run.ts';

const HEAD = [
  'Mixed load on',
  'Kills',
  'With a fault of the store',
  'Writes missing',
  'Users without a lease',
  'Users left at the end',
  'Open again, median',
  'At most',
];

/** What runs on several stores found, as the documentation shows it. */
export class CrashTable {
  readonly #rows: string[][] = [];

  add(store: string, { kills, faults, lost, orphans, left, recovery }: CrashReport): void {
    const struck = [...faults.values()].reduce((sum, times) => sum + times, 0);
    this.#rows.push([store, ...[kills, struck, lost, orphans, left].map(String), recovery.median, recovery.longest]);
  }

  toString(): string {
    return [HEAD, HEAD.map(() => '---'), ...this.#rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
  }
}
