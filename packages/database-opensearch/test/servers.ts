import { startOpensearchDouble } from '@strongroom/lab';

/** An OpenSearch under test, the double or a real one. */
export interface OpensearchUnderTest {
  readonly host: string;
  readonly port: number;
  readonly superuser: string;
  readonly password: string;
  /** Absent where the test did not start the server. */
  readonly restart?: () => Promise<void>;
  stop(): Promise<void>;
}

/** Such as `http://manager:password@127.0.0.1:9200`, whose user may manage the others and is not reserved. */
const REAL = process.env['STRONGROOM_TEST_OPENSEARCH_URL'];

/** Whether a real server is given, and how each is had. */
export const servers: readonly (readonly [title: string, missing: string | undefined, start: () => Promise<OpensearchUnderTest>])[] = [
  ['a double of OpenSearch', undefined, startOpensearchDouble],
  ['OpenSearch', REAL === undefined ? 'STRONGROOM_TEST_OPENSEARCH_URL is not set' : undefined, async () => given(new URL(REAL!))],
];

function given(url: URL): OpensearchUnderTest {
  const [superuser, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
  return { host: url.hostname, port: Number(url.port), superuser, password, stop: async () => undefined };
}

/** One call past the plugin; rejects with the server's words. `path` is below `/_plugins/_security`. */
export async function ask(
  { host, port }: Pick<OpensearchUnderTest, 'host' | 'port'>,
  [username, password]: readonly [string, string],
  path: string,
  init: { readonly method?: string; readonly body?: string } = {},
): Promise<Record<string, unknown>> {
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  const response = await fetch(`http://${host}:${port}/_plugins/_security${path}`, {
    ...init,
    headers: { authorization, 'content-type': 'application/json' },
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${text}`);
  return JSON.parse(text) as Record<string, unknown>;
}
