import { mapConcurrently } from '@strongroom/engine-sdk';
import type { Context } from './context.ts';
import { CallRefused, ImportStopped } from './failures.ts';
import type { Digests, ImportRecord } from './import-record.ts';
import { digest } from './json.ts';
import { refusedLine, type Found } from './listing.ts';
import { isThing, nameOf, type Line, type Outcome, type Thing } from './thing.ts';

/** Things that are compared with the record, and noted in it, in one call. */
const CHUNK = 64;

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
    const { parallel, apply, checkpoint } = this.#context;
    const seen = chunk.filter(isThing).map((thing): Seen => ({ thing, current: undefined }));
    const each = async (work: (one: Seen) => Promise<void>, limit = parallel): Promise<void> =>
      mapConcurrently(seen, limit, async (one) => {
        if (one.line === undefined) await work(one).catch((error: unknown) => void (one.line = failedLine(one.thing, error)));
      });
    await each(async (one) => void (one.current = await one.thing.current()));
    const known = await this.#record.compare(
      new Map(
        seen
          .filter(({ line, current }) => !line && current !== undefined)
          .map(({ thing, current }) => [nameOf(thing), digestsOf(thing, current)]),
      ),
    );
    try {
      await each(async (one) => void (one.line = await this.#decide(one, known.get(nameOf(one.thing)))), ordered ? 1 : parallel);
    } finally {
      const noted = new Map<string, Digests>();
      for (const { thing, line, current } of seen) {
        const before = known.get(nameOf(thing));
        const fresh = line?.outcome === 'imported' || line?.outcome === 'changed' || (line?.outcome === 'same' && !before);
        if (fresh && current !== undefined) noted.set(nameOf(thing), digestsOf(thing, current));
        if (line && ['imported', 'changed', 'same'].includes(line.outcome) && line.why === undefined) this.carried.push(thing);
      }
      if (apply) await this.#record.put(noted);
    }
    const lines = new Map(seen.map(({ thing, line }) => [thing, line!]));
    const report = chunk.map((one) => (isThing(one) ? lines.get(one)! : one));
    for (const line of report) this.#hearer.add(line);
    if (apply) await checkpoint.add(report);
    const conflict = report.find(({ outcome }) => outcome === 'conflict');
    if (conflict && this.#onConflict === 'fail') throw new ImportStopped(`${conflict.path} is in conflict: nothing after it was imported`);
  }

  async #decide(one: Seen, before: { source: boolean; target: boolean } | undefined): Promise<Line> {
    const { thing, current } = one;
    if (current !== undefined && thing.matches(current)) return lineOf(thing, 'same');
    if (thing.fixed !== undefined) return lineOf(thing, 'conflict', thing.fixed);
    if (current === undefined) return thing.needs ? needsLine(thing) : this.#write(one, 'imported', false);
    if (before?.source && before.target) return lineOf(thing, 'same');
    if (before?.source) return lineOf(thing, 'same', 'was changed here since it came; that is kept');
    if (thing.needs) return needsLine(thing);
    if (before?.target) return this.#write(one, 'changed', false);
    if (this.#onConflict === 'replace') return this.#write(one, 'changed', true, 'what was here is replaced');
    if (thing.unequal !== undefined) return lineOf(thing, 'not-carriable', thing.unequal);
    return lineOf(thing, 'conflict', before ? 'was changed here and at the source' : 'something else is here');
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

/** One thing failed; the others go on. @throws what stops the import */
function failedLine(thing: Thing, error: unknown): Line {
  if (!(error instanceof CallRefused)) throw error;
  if (error.role === 'source') return { ...lineOf(thing, 'refused'), ...refusedLine(thing.kind, thing.path, error) };
  if (error.status === 404) return lineOf(thing, 'not-carriable', `this server has no ${thing.to}`);
  return lineOf(thing, 'failed', error.message);
}
