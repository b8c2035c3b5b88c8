import { mapConcurrently } from '@strongroom/engine-sdk';
import type { Context } from './context.ts';
import { CallRefused, ImportStopped } from './failures.ts';
import type { Digests, ImportRecord } from './import-record.ts';
import { digest } from './json.ts';
import { refusedLine, type Found } from './listing.ts';
import { givenNameOf, isThing, nameOf, type Line, type Outcome, type Thing } from './thing.ts';

/** Things that are compared with the record, and noted in it, in one call. */
const CHUNK = 64;

const CARRIED: ReadonlySet<Outcome> = new Set(['imported', 'same', 'changed']);

export type OnConflict = 'skip' | 'fail' | 'replace';

/** Hears of every line, in the order of the source. */
export interface Hearer {
  add(line: Line): void;
}

interface Seen {
  readonly thing: Thing;
  current: unknown;
  line?: Line;
}

/** Decides of each thing what comes of it, and writes it. */
export class Carrier {
  readonly #context: Context;
  readonly #record: ImportRecord;
  readonly #onConflict: OnConflict;
  readonly #hearer: Hearer;
  /** What is here now as the source has it, for the check at the end. */
  readonly carried: Thing[] = [];

  constructor(parts: { context: Context; record: ImportRecord; onConflict: OnConflict; hearer: Hearer }) {
    this.#context = parts.context;
    this.#record = parts.record;
    this.#onConflict = parts.onConflict;
    this.#hearer = parts.hearer;
  }

  /** `ordered`: each thing may need the one before it. @throws ImportStopped */
  async carry(found: Found, { ordered = false } = {}): Promise<void> {
    let chunk: (Thing | Line)[] = [];
    for await (const next of found) {
      chunk.push(next);
      if (chunk.length < CHUNK) continue;
      await this.#settle(chunk, ordered);
      chunk = [];
    }
    await this.#settle(chunk, ordered);
  }

  async #settle(chunk: readonly (Thing | Line)[], ordered: boolean): Promise<void> {
    const { parallel } = this.#context;
    const seen = chunk.filter(isThing).map((thing): Seen => ({ thing, current: undefined }));
    let known = new Map<string, { source: boolean; target: boolean }>();
    try {
      await each(seen, parallel, async (one) => void (one.current = await one.thing.current()));
      const there = seen.filter(({ line, current }) => !line && current !== undefined);
      known = await this.#record.compare(
        new Map([
          ...there.map(({ thing, current }) => [nameOf(thing), digestsOf(thing, current)] as const),
          ...there.flatMap(({ thing }) => givenDigests(thing)),
        ]),
      );
      await each(seen, ordered ? 1 : parallel, async (one) => void (one.line = await this.#decide(one, known)));
    } finally {
      await this.#note(chunk, seen, known);
    }
    const conflict = seen.find(({ line }) => line?.outcome === 'conflict');
    if (conflict && this.#onConflict === 'fail')
      throw new ImportStopped(`${conflict.thing.path} is in conflict: nothing after it was imported`);
  }

  /** What came of the chunk, also where it was stopped in the middle: in the record of the target, in the report and in the checkpoint. */
  async #note(chunk: readonly (Thing | Line)[], seen: readonly Seen[], known: ReadonlyMap<string, unknown>): Promise<void> {
    const noted = new Map<string, Digests>();
    for (const { thing, line, current } of seen) {
      const fresh = line?.outcome === 'imported' || line?.outcome === 'changed' || (line?.outcome === 'same' && !known.has(nameOf(thing)));
      if (fresh && current !== undefined) noted.set(nameOf(thing), digestsOf(thing, current));
      if (line?.outcome === 'imported' || line?.outcome === 'changed')
        for (const [name, digests] of givenDigests(thing)) noted.set(name, digests);
      if (line && CARRIED.has(line.outcome) && line.why === undefined) this.carried.push(thing);
    }
    const lines = new Map(seen.map(({ thing, line }) => [thing, line]));
    const report = chunk.map((one) => (isThing(one) ? lines.get(one) : one)).filter((line) => line !== undefined);
    for (const line of report) this.#hearer.add(line);
    if (!this.#context.apply) return;
    await this.#record.put(noted);
    await this.#context.checkpoint.add(report);
  }

  async #decide(one: Seen, known: ReadonlyMap<string, { source: boolean; target: boolean }>): Promise<Line> {
    const { thing, current } = one;
    const before = known.get(nameOf(thing));
    const newSecret = thing.given !== undefined && known.get(givenNameOf(thing))?.source !== true;
    if (current !== undefined && thing.matches(current))
      return newSecret ? this.#write(one, 'changed', false, 'its secrets in the file of -secrets are new') : lineOf(thing, 'same');
    if (thing.fixed !== undefined) return lineOf(thing, 'conflict', thing.fixed);
    if (current === undefined) return thing.needs ? needsLine(thing) : this.#write(one, 'imported', false);
    if (before?.source && before.target) return lineOf(thing, 'same');
    if (before?.source) {
      const also = newSecret ? ', and its new secrets in the file of -secrets are not written: add -on-conflict=replace' : '';
      if (newSecret && this.#onConflict === 'replace') return this.#write(one, 'changed', true, 'what was here is replaced');
      return lineOf(thing, newSecret ? 'conflict' : 'same', `was changed here since it came; that is kept${also}`);
    }
    if (thing.needs) return needsLine(thing);
    if (before?.target) return this.#write(one, 'changed', false);
    if (this.#onConflict === 'replace') return this.#write(one, 'changed', true, 'what was here is replaced');
    if (thing.unequal !== undefined) return lineOf(thing, 'not-carriable', thing.unequal);
    const names = thing.differences?.(current) ?? [];
    const what = names.length === 0 ? '' : ` (${names.join(', ')})`;
    return lineOf(thing, 'conflict', (before ? 'was changed here and at the source' : 'something else is here') + what);
  }

  async #write(one: Seen, outcome: Outcome, replace: boolean, why?: string): Promise<Line> {
    const { thing } = one;
    if (!this.#context.apply) {
      await thing.prepare?.();
      return lineOf(thing, outcome, why);
    }
    await thing.write(replace);
    one.current = await thing.current();
    const differs = one.current !== undefined && !thing.matches(one.current) ? 'this server shows some of its fields otherwise' : undefined;
    return lineOf(thing, outcome, why ?? differs);
  }
}

/** Works on all things that have no line yet, and gives those that fail one. What stops the import stops the others before it is thrown. */
async function each(seen: readonly Seen[], limit: number, work: (one: Seen) => Promise<void>): Promise<void> {
  let stop: unknown;
  await mapConcurrently(seen, limit, async (one) => {
    if (stop !== undefined || one.line !== undefined) return;
    try {
      await work(one);
    } catch (error) {
      if (error instanceof CallRefused) one.line = failedLine(one.thing, error);
      else stop = error;
    }
  });
  if (stop !== undefined) throw stop;
}

/** The secrets of the operator's file, as the record knows them: as digests, of which it keeps keyed ones. */
function givenDigests(thing: Thing): [name: string, digests: Digests][] {
  if (thing.given === undefined) return [];
  const given = digest(thing.given);
  return [[givenNameOf(thing), { source: given, target: given }]];
}

function digestsOf(thing: Thing, current: unknown): Digests {
  return { source: digest(thing.content), target: digest(thing.state(current)) };
}

function lineOf(thing: Thing, outcome: Outcome, why?: string): Line {
  const { kind, path, to, diff } = thing;
  return { kind, path, ...(to === path ? {} : { to }), outcome, ...(why ? { why } : {}), ...(diff ? { diff } : {}) };
}

function needsLine(thing: Thing): Line {
  const { why, command } = thing.needs!;
  return { ...lineOf(thing, 'needs-secret', why), ...(command === undefined ? {} : { command }) };
}

/** One thing failed; the others go on. */
function failedLine(thing: Thing, error: CallRefused): Line {
  if (error.role === 'source') return { ...lineOf(thing, 'refused'), ...refusedLine(thing.kind, thing.path, error) };
  if (error.status === 404) return lineOf(thing, 'not-carriable', `this server has no ${thing.to}`);
  return lineOf(thing, 'failed', error.message);
}
