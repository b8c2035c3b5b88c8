import type { BenchServer } from './bench-server.ts';
import { requestText } from './http-connection.ts';
import { load, once, repeat, type Target } from './load.ts';
import { Probe } from './probe.ts';
import { memoryParts, type MemoryParts } from './process-usage.ts';
import { workloads } from './workloads.ts';

/** How much of each kind a store holds. */
export interface LargeData {
  readonly leases: number;
  readonly secrets: number;
  readonly policies: number;
  readonly roles: number;
  readonly mounts: number;
  readonly groups: number;
  readonly entities: number;
}

const WHOLE: LargeData = {
  leases: 1_000_000,
  secrets: 100_000,
  policies: 10_000,
  roles: 10_000,
  mounts: 1_000,
  groups: 10_000,
  entities: 100_000,
};
const NOTHING: LargeData = { leases: 0, secrets: 0, policies: 0, roles: 0, mounts: 0, groups: 0, entities: 0 };

/** What was measured of one thing at one size. */
export interface LargeFigure {
  readonly name: string;
  readonly millis: number;
  /** How long the server's main thread was at work, at most, while another caller waited. Milliseconds. */
  readonly hold?: number;
}

export interface LargeSize {
  readonly percent: number;
  readonly data: LargeData;
  /** Seconds that it took to make the data. */
  readonly made: Readonly<Record<string, number>>;
  readonly started: MemoryParts;
  readonly ended: MemoryParts;
  readonly figures: readonly LargeFigure[];
}

/** Keys of a page. */
const PAGE = 100;

/** Lists, by the path and the kind that says how many keys there are. */
const LISTS: readonly (readonly [name: string, path: string])[] = [
  ['leases', 'sys/leases/lookup/auth/token/create-orphan'],
  ['secrets', 'large/metadata'],
  ['policies', 'sys/policies/acl'],
  ['roles', 'auth/large/role'],
  ['entities by id', 'identity/entity/id'],
  ['entities by name', 'identity/entity/name'],
  ['groups by id', 'identity/group/id'],
  ['groups by name', 'identity/group/name'],
];

export function largeData(percent: number): LargeData {
  return Object.fromEntries(
    Object.entries(WHOLE).map(([kind, count]) => [kind, Math.ceil((count * percent) / 100)]),
  ) as unknown as LargeData;
}

/** Fills a store to one size after the other, and measures a server on each. What one size adds stays for the next. */
export async function* largeSizes(server: BenchServer, percents: readonly number[]): AsyncGenerator<LargeSize> {
  let before = NOTHING;
  for (const percent of percents) {
    const data = largeData(percent);
    const { millis, output } = await server.refill('large-data-main.js', [JSON.stringify(before), JSON.stringify(data)]);
    before = data;
    const { target } = server;
    const started = memoryParts(target.pid);
    const figures: LargeFigure[] = [{ name: 'start', millis }];
    const probe = new Probe(target);
    try {
      for await (const figure of measured(target, probe, data, percent)) figures.push(figure);
    } finally {
      await probe.stop();
    }
    yield { percent, data, made: JSON.parse(output) as Record<string, number>, started, ended: memoryParts(target.pid), figures };
  }
}

async function* measured(target: Target, probe: Probe, data: LargeData, percent: number): AsyncGenerator<LargeFigure> {
  const timed = async (name: string, work: () => Promise<unknown>): Promise<LargeFigure> => {
    await probe.take();
    const began = performance.now();
    await work();
    const millis = performance.now() - began;
    return { name, millis, hold: (await probe.take()).busiest };
  };
  const get = async (path: string): Promise<string[]> => {
    const { data: found } = (await once(target, 'GET', `/v1/${path}`)).json as unknown as { data: { keys: string[] } };
    return found.keys;
  };
  for (const [name, path] of LISTS) {
    let keys: string[] = [];
    await get(`${path}?list=true&limit=${PAGE}`);
    yield await timed(`${name}: first page`, async () => get(`${path}?list=true&limit=${PAGE}`));
    yield await timed(`${name}: all`, async () => (keys = await get(`${path}?list=true`)));
    const after = keys.at(-PAGE - 1) ?? '';
    yield await timed(`${name}: last page`, async () => get(`${path}?list=true&limit=${PAGE}&after=${encodeURIComponent(after)}`));
  }
  yield await timed('mounts: all', async () => once(target, 'GET', '/v1/sys/mounts'));
  yield await timed('a mount more', async () => once(target, 'POST', '/v1/sys/mounts/more', { type: 'kv' }));
  yield await timed('a mount less', async () => once(target, 'DELETE', '/v1/sys/mounts/more'));
  for (const name of ['lookup', 'kv write', 'token create'] as const) {
    const { perSecond } = await load(name, target, workloads(target)[name], { seconds: 2 });
    yield { name: `1,000 of ${name}`, millis: 1e6 / perSecond };
  }

  const many = Math.ceil(200 * percent);
  const token = (ttl: string): string =>
    requestText('POST', '/v1/auth/token/create/batchjob', target.token, JSON.stringify({ policies: ['default'], ttl }));
  await once(target, 'POST', '/v1/auth/token/roles/batchjob', { orphan: true });
  await load('create', target, repeat(token('24h')), { count: many });
  yield await timed('revoke-prefix of 2 %', async () => once(target, 'PUT', '/v1/sys/leases/revoke-prefix/auth/token/create/batchjob', {}));

  const due = Date.now() + 3_000 + many;
  await load('create', target, async (...args) => repeat(token(`${Math.max(1, Math.round((due - Date.now()) / 1_000))}s`))(...args), {
    count: many,
  });
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - Date.now())));
  yield await timed('2 % due in one second', async () => gone(target));

  await once(target, 'POST', '/v1/sys/mounts/leaving', { type: 'kv' });
  const secrets = Math.ceil(data.secrets / 10);
  let next = 0;
  await load(
    'fill',
    target,
    async (...args) => {
      next += 1;
      await repeat(requestText('POST', `/v1/leaving/${next}`, target.token, '{"password":"x"}'))(...args);
    },
    { count: secrets },
  );
  yield await timed('unmount with 10 % of the secrets', async () => once(target, 'DELETE', '/v1/sys/mounts/leaving'));
}

/** Resolves when no lease of the role is left. */
async function gone(target: Target): Promise<void> {
  for (;;) {
    const left = await once(target, 'GET', '/v1/sys/leases/lookup/auth/token/create/batchjob?list=true&limit=1').catch((error: unknown) => {
      if (error instanceof Error && error.message.includes(': 404')) return undefined;
      throw error;
    });
    if (left === undefined || (left.json as unknown as { data: { keys: string[] } }).data.keys.length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** At most so many times the first figure, where the data grows a hundredfold: the trees of a store become one or two levels deeper. */
const CONSTANT = 1.5;
const LOGARITHMIC = 4;

/** How a figure grows between the first and the last size. Times of few milliseconds are not much more than noise. */
export function growthOf(
  first: { readonly percent: number; readonly millis: number },
  last: { readonly percent: number; readonly millis: number },
): string {
  const ratio = last.millis / first.millis;
  const exponent = Math.log(ratio) / Math.log(last.percent / first.percent);
  if (!Number.isFinite(exponent)) return '';
  if (ratio < CONSTANT) return 'constant';
  if (ratio < LOGARITHMIC) return 'logarithmic';
  if (exponent < 0.75) return 'less than linear';
  return exponent < 1.25 ? 'linear' : 'more than linear';
}
