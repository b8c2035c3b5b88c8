import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Coverage } from './coverage.ts';
import { withExamples, withKnownNames, withoutExclusions } from './document.ts';
import { KNOWN_NAMES, startFuzzedServer, type FuzzedServer } from './fuzzed-server.ts';
import { startOutside, type Outside } from './outside.ts';
import { startRecorder, type Trouble } from './recorder.ts';
import { mismatchesIn, runSchemathesis } from './schemathesis.ts';
import { outsideFault } from './verdict.ts';

const RESTORE_MILLIS = 5_000;
/** Of the time: the caller who may do nearly all, and each of those who may do little. */
const SHARE_OF_OPERATOR = 0.7;
const SHARE_OF_OTHERS = 0.15;

export interface FuzzReport {
  readonly coverage: Coverage;
  readonly requests: number;
  readonly statuses: ReadonlyMap<number, number>;
  /** Outside systems that could not be had. */
  readonly missing: readonly string[];
  /** 5xx that an outside system is to blame for, by why. */
  readonly outside: ReadonlyMap<string, readonly Trouble[]>;
  /** What the server is to blame for. Empty after a good run. */
  readonly problems: readonly string[];
  /** What schemathesis printed. */
  readonly printed: string;
}

export interface FuzzOptions {
  readonly python: string;
  readonly seconds: number;
  readonly seed: number;
}

/** Starts a server with every engine, on systems that are up, and lets schemathesis fuzz all that its OpenAPI document declares. */
export async function fuzz({ python, seconds, seed }: FuzzOptions): Promise<FuzzReport> {
  const folder = await mkdtemp(join(tmpdir(), 'strongroom-schemathesis-'));
  const outside = await startOutside();
  try {
    const server = await startFuzzedServer(outside);
    const document = await documentOf(server);
    const coverage = new Coverage(document);
    const recorder = await startRecorder(server.address, heldBack, (...answer) => coverage.answered(...answer));
    try {
      const file = join(folder, 'openapi.json');
      await writeFile(file, JSON.stringify(withExamples(withKnownNames(withoutExclusions(document), KNOWN_NAMES), server.examples)));
      const keeping = keepConfigured(server, outside);
      const run = { python, seed, document: file, url: `${recorder.address}/v1`, cwd: folder };
      const parts = { [server.token]: SHARE_OF_OPERATOR, [server.guestToken]: SHARE_OF_OTHERS, '': SHARE_OF_OTHERS };
      const printed: string[] = [];
      try {
        for (const [token, share] of Object.entries(parts))
          printed.push(await runSchemathesis({ ...run, token: token === '' ? undefined : token, seconds: Math.ceil(seconds * share) }));
      } finally {
        await keeping.stop();
      }
      const problems = [
        ...keeping.problems,
        ...printed.flatMap(mismatchesIn).map((text) => `the document does not have this answer: ${text}`),
        ...recorder.troubles.filter((trouble) => outsideFault(trouble) === undefined).map(described),
        ...server.faults.map((line) => `the log says: ${line}`),
        ...(await endOf(server)),
        ...(recorder.requests() === 0 ? [`schemathesis sent nothing: ${printed.join('').slice(-4_000)}`] : []),
      ];
      const byReason = new Map<string, Trouble[]>();
      for (const trouble of recorder.troubles) {
        const reason = outsideFault(trouble);
        if (reason !== undefined) byReason.set(reason, [...(byReason.get(reason) ?? []), trouble]);
      }
      return {
        coverage,
        requests: recorder.requests(),
        statuses: recorder.statuses(),
        missing: outside.missing,
        outside: byReason,
        problems,
        printed: printed.join('\n'),
      };
    } finally {
      await recorder.stop();
      await server.stop();
    }
  } finally {
    await outside.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** What is wrong with the server after the run. */
async function endOf({ address, token, ended, log }: FuzzedServer): Promise<string[]> {
  if (ended() !== undefined) return [`the server ended with ${ended()}: ${log().slice(-4_000)}`];
  const { ok } = await fetch(`${address}/v1/auth/token/lookup-self`, { headers: { 'x-vault-token': token } });
  return ok ? [] : ['the token of the run was refused at the end: not all of it was fuzzed'];
}

interface Keeping {
  readonly problems: readonly string[];
  stop(): Promise<void>;
}

/** Puts things right again and again: calls that need the outside systems would soon all end at "there is no such role". */
function keepConfigured(server: FuzzedServer, outside: Outside): Keeping {
  const problems: string[] = [];
  const stopping = new AbortController();
  const work = (async () => {
    while (!stopping.signal.aborted && server.ended() === undefined) {
      try {
        await outside.restore();
        await server.restore();
      } catch (error) {
        // The run itself may be changing the same account.
        if (outsideFault({ status: 500, answer: String(error) }) === undefined)
          problems.push(`an outside system did not stay up: ${String(error)}`);
      }
      await setTimeout(RESTORE_MILLIS, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  })();
  return {
    problems,
    stop: async () => {
      stopping.abort();
      await work;
    },
  };
}

async function documentOf({ address, token }: FuzzedServer): Promise<Record<string, unknown>> {
  const answer = await fetch(`${address}/v1/sys/internal/specs/openapi`, { headers: { 'x-vault-token': token } });
  return (await answer.json()) as Record<string, unknown>;
}

/** An audit device writes to any path: here only below the folder that is removed afterwards. */
function heldBack(method: string, target: string, body: Buffer): string | undefined {
  if (method === 'GET' || !/^\/v1\/sys\/audit(?![a-z-])/.test(target)) return undefined;
  return /"(?:file_path|path)"\s*:\s*"(?:\/|\\|[^"]*\.\.)/.test(body.toString())
    ? 'held back: this file would lie outside the run'
    : undefined;
}

/** With a command that does it again. */
function described({ method, target, body, contentType, status, answer, millis }: Trouble): string {
  const text = body.toString();
  const data =
    body.length === 0
      ? ''
      : ` -H ${quoted(`Content-Type: ${contentType ?? ''}`)} --data-binary ${text.length > 2_000 ? quoted(`${text.slice(0, 2_000)}…`) : quoted(text)}`;
  const what = status === 0 ? 'no answer' : String(status);
  return `${what} after ${millis} ms: ${answer.slice(0, 500)}\n    curl -X ${method} -H "X-Vault-Token: $TOKEN"${data} ${quoted(`$STRONGROOM_ADDR${target}`).replace("'$STRONGROOM_ADDR", `"$STRONGROOM_ADDR"'`)}`;
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
