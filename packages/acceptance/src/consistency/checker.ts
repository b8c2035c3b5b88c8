import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { RecordedCall } from './history.ts';

export interface Verdict {
  /** Calls and objects, by model. */
  readonly calls: Readonly<Record<string, number>>;
  readonly objects: Readonly<Record<string, number>>;
  /** Objects whose calls no order explains. */
  readonly illegal: readonly string[];
  /** Objects whose check did not end in time. */
  readonly unknown: readonly string[];
}

/** Whether the program that checks histories is there, and else why not; `npm test` and `npm run consistency` build it. */
export const checkerMissing: string | undefined =
  process.env['STRONGROOM_HISTORY_CHECKER'] === undefined ? 'the history checker is not built: it needs Go' : undefined;

/** Decides whether each object's calls can be explained by one order (linearizability, by porcupine). @throws Error where the history cannot be read */
export async function verdictOn(calls: readonly RecordedCall[]): Promise<Verdict> {
  const child = spawn(process.env['STRONGROOM_HISTORY_CHECKER']!, [], { stdio: ['pipe', 'pipe', 'pipe'] });
  const said = Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  child.stdin.end(calls.map((call) => `${JSON.stringify(call)}\n`).join(''));
  const [verdict, complaint, [code]] = (await said) as [string, string, [number | null]];
  if (code === 3 || verdict === '') throw new Error(`the history checker ended with ${String(code)}: ${complaint}`);
  return JSON.parse(verdict) as Verdict;
}
