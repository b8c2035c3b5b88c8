import { useQuery } from '@tanstack/react-query';
import { send } from './send.ts';
import { token } from './token.ts';

export type Capability = 'create' | 'read' | 'update' | 'patch' | 'delete' | 'list' | 'scan';

/** One thing that a page offers: a capability on a path. Of several capabilities, any one is enough. */
export interface Right {
  /** Below `/v1/`, as people write it: not encoded. */
  readonly path: string;
  readonly need: Capability | readonly Capability[];
  /** The path asks for `sudo` besides. */
  readonly sudo?: boolean;
}

/** `yes` and `no` are the server's; `unknown` while the question is open or failed: then the action is offered and the server decides. */
export type Verdict = 'yes' | 'no' | 'unknown';

const waiting = new Map<string, ((capabilities: readonly string[] | undefined) => void)[]>();
let asking = false;

/** Asks for all paths that are wanted in the same moment in one call. */
function capabilitiesOf(path: string): Promise<readonly string[] | undefined> {
  return new Promise((resolve) => {
    waiting.set(path, [...(waiting.get(path) ?? []), resolve]);
    if (asking) return;
    asking = true;
    queueMicrotask(() => void askAll());
  });
}

async function askAll(): Promise<void> {
  const asked = new Map(waiting);
  waiting.clear();
  asking = false;
  const paths = [...asked.keys()];
  const answer = await send<Record<string, string[]>>('POST', 'sys/capabilities-self', { body: { paths } }).catch(() => undefined);
  for (const [path, resolvers] of asked) for (const resolve of resolvers) resolve(answer?.data[path]);
}

/** Whether capabilities, as the server lists them for the path, grant the right. */
export function isGranted({ need, sudo = false }: Right, capabilities: readonly string[]): boolean {
  if (capabilities.includes('root')) return true;
  const needed: readonly Capability[] = typeof need === 'string' ? [need] : need;
  return needed.some((one) => capabilities.includes(one)) && (!sudo || capabilities.includes('sudo'));
}

/** A right in words: `update and sudo on sys/seal`. */
export function rightInWords({ path, need, sudo = false }: Right): string {
  return `${typeof need === 'string' ? need : need.join(' or ')}${sudo ? ' and sudo' : ''} on ${path}`;
}

/** What the token may do, from one call for all paths of a page; kept for 60 s. */
export function useRight(right: Right | undefined): Verdict {
  const path = right?.path ?? '';
  const { data } = useQuery({
    queryKey: ['rights', token.current() ?? '', path],
    queryFn: async () => (await capabilitiesOf(path)) ?? null,
    enabled: right !== undefined && token.current() !== undefined,
    staleTime: 60_000,
  });
  if (right === undefined) return 'yes';
  if (!data) return 'unknown';
  return isGranted(right, data) ? 'yes' : 'no';
}
