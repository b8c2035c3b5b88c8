import { requestText } from './http-connection.ts';
import { repeat, type Operation, type Target } from './load.ts';

const KEYS = 1_000;
const VALUE = 'x'.repeat(1_024);

/** One call of a workload, whichever way it is made. */
export interface Call {
  readonly method: 'GET' | 'POST';
  /** Without `/v1/`. */
  readonly path: string;
  readonly body?: Readonly<Record<string, unknown>>;
  /** Made without a token. */
  readonly anonymous?: true;
}

const secretPaths = Array.from({ length: KEYS }, (_, i) => `bench/data/${i}`);

/** The calls of each workload, of which one after the other is chosen by chance; `bench/` is a version-2 key-value mount. */
export const CALLS = {
  health: [{ method: 'GET', path: 'sys/health', anonymous: true }],
  lookup: [{ method: 'GET', path: 'auth/token/lookup-self' }],
  'kv write': secretPaths.map((path) => ({ method: 'POST', path, body: { data: { v: VALUE } } })),
  'kv read': secretPaths.map((path) => ({ method: 'GET', path })),
  'token create': [{ method: 'POST', path: 'auth/token/create', body: { policies: ['default'], ttl: '1h' } }],
} as const satisfies Readonly<Record<string, readonly Call[]>>;
export type WorkloadName = keyof typeof CALLS;

/** The workloads over HTTP, by name. */
export function workloads({ token }: Pick<Target, 'token'>): Record<WorkloadName, Operation> {
  const operation = (calls: readonly Call[]): Operation => {
    const texts = calls.map(({ method, path, body, anonymous }) =>
      requestText(method, `/v1/${path}`, anonymous ? '' : token, body === undefined ? '' : JSON.stringify(body)),
    );
    return async (connection, random) => repeat(texts[Math.floor(random() * texts.length)]!)(connection, random);
  };
  return Object.fromEntries(Object.entries(CALLS).map(([name, calls]) => [name, operation(calls)])) as Record<WorkloadName, Operation>;
}

/** Writes every secret of the workloads once, so that each is there to be read. */
export function fill(token: string): Operation {
  let next = 0;
  return async (connection, random) => {
    const { path, body } = CALLS['kv write'][next % KEYS]!;
    next += 1;
    await repeat(requestText('POST', `/v1/${path}`, token, JSON.stringify(body)))(connection, random);
  };
}
