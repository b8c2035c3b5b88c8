import type { Line, Outcome } from './thing.ts';

const OUTCOMES: readonly Outcome[] = ['imported', 'changed', 'same', 'needs-secret', 'not-carriable', 'refused', 'conflict', 'failed'];

/** The two ends of an import. */
export interface Ends {
  readonly source: { readonly address: string; readonly id: string; readonly version: string; readonly namespace: string };
  readonly target: { readonly address: string; readonly version: string };
}

/** What came of an import, or would come of it. Holds names and reasons, and no secret. */
export interface Report extends Ends {
  readonly applied: boolean;
  /** Why it ended early. */
  readonly stopped?: string;
  readonly objects: readonly Line[];
  readonly totals: Readonly<Record<Outcome, number>>;
  readonly verified?: { readonly checked: number; readonly different: readonly string[] };
  readonly calls: { readonly source: number; readonly target: number };
}

export function totalsOf(lines: readonly Line[]): Record<Outcome, number> {
  return Object.fromEntries(OUTCOMES.map((outcome) => [outcome, lines.filter((line) => line.outcome === outcome).length])) as Record<
    Outcome,
    number
  >;
}

/** 0: everything is carried; 3: carried with remarks; 2: conflicts; 1: something failed, or the import was stopped. */
export function exitCodeOf({ totals, stopped, verified }: Pick<Report, 'totals' | 'stopped' | 'verified'>): 0 | 1 | 2 | 3 {
  if (totals.conflict > 0 && totals.failed === 0 && (verified?.different.length ?? 0) === 0) return 2;
  if (stopped !== undefined || totals.failed > 0 || (verified?.different.length ?? 0) > 0) return 1;
  return totals['needs-secret'] + totals['not-carriable'] + totals.refused > 0 ? 3 : 0;
}

/** What never comes from any source, whatever it has. */
const NEVER =
  'Tokens, leases, wrapped values and cubbyholes never come: whoever has one logs in again. Leave the leases of the source to it until they end, or revoke ' +
  'them there after the move.';

/** The report for people. `table` sets columns. */
export function reportText(report: Report, table: (header: readonly string[], rows: readonly (readonly string[])[]) => string): string {
  const { source, target, objects, totals, applied, stopped, verified } = report;
  const namespace = source.namespace === '' ? '' : `, namespace ${source.namespace}`;
  const head = [
    applied
      ? `Import from ${source.address} into ${target.address}`
      : `Plan of an import from ${source.address} into ${target.address}: nothing was written`,
    `Source: ${source.id} (version ${source.version}${namespace})`,
    '',
  ];
  const kinds = [...new Set(objects.map(({ kind }) => kind))];
  const shown = OUTCOMES.filter((outcome) => totals[outcome] > 0);
  const summary = table(
    ['Kind', ...shown],
    [
      ...kinds.map((kind) => [
        kind,
        ...shown.map((outcome) => count(objects.filter((line) => line.kind === kind && line.outcome === outcome).length)),
      ]),
      ['Total', ...shown.map((outcome) => count(totals[outcome]))],
    ],
  );
  const remarks = objects
    .filter(
      ({ outcome, why, diff }) =>
        !['imported', 'same', 'changed'].includes(outcome) || (why !== undefined && !why.startsWith('by an import')) || diff,
    )
    .map((line) => remark(line));
  const end = [
    ...(verified
      ? [`Verified: ${verified.checked} read again on both sides, ${verified.different.length} different${names(verified.different)}`]
      : []),
    ...(stopped === undefined ? [] : [`Stopped: ${stopped}`]),
    NEVER,
  ];
  return [...head, objects.length === 0 ? 'There is nothing to import.' : summary, '', ...remarks, ...end].join('\n');
}

function count(number: number): string {
  return number === 0 ? '-' : String(number);
}

function names(different: readonly string[]): string {
  return different.length === 0 ? '' : `: ${different.join(', ')}`;
}

function remark({ kind, path, to, outcome, why, command, diff }: Line): string {
  const where = to === undefined ? path : `${path} → ${to}`;
  return [
    `${outcome}: ${kind} ${where}${why === undefined ? '' : `: ${why}`}`,
    ...(command === undefined ? [] : [`    ${command}`]),
    ...(diff ?? []).map((line) => `    ${line}`),
    '',
  ].join('\n');
}
