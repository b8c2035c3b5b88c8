import type { ClusterAnswer, KubernetesCluster } from '@strongroom/lab';
import type { Outside, OutsideSecret } from '@strongroom/sync-testkit';
import type { KubernetesConnection } from '../src/index.ts';

/** The namespace of the tests. */
const PLACE = '/api/v1/namespaces/prod/secrets';

/** The whole connection to a cluster, as its manager. */
export function connectionTo({ url, ca, manager }: KubernetesCluster, more: Partial<KubernetesConnection> = {}): KubernetesConnection {
  return {
    kubernetes_host: url,
    kubernetes_ca_cert: ca,
    service_account_jwt: manager,
    namespace: 'prod',
    secret_type: 'Opaque',
    ...more,
  };
}

/** A Secret as an administrator sees it. */
export interface SeenSecret {
  readonly metadata: {
    readonly uid: string;
    readonly resourceVersion: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly type: string;
  readonly data: Readonly<Record<string, string>>;
}

/** The Secrets of a namespace, as `kubectl` shows and changes them. */
export class SecretsOutside implements Outside {
  cluster!: KubernetesCluster;

  async see(name: string): Promise<SeenSecret | undefined> {
    const { code, body } = await this.cluster.ask({ method: 'GET', path: `${PLACE}/${name}` });
    if (code === 404) return undefined;
    const { metadata, type, data } = required(code, body) as unknown as SeenSecret;
    return { metadata, type, data: decoded(data) };
  }

  /** The keys of every Secret of the namespace. */
  async all(): Promise<Readonly<Record<string, string>>[]> {
    const { code, body } = await this.cluster.ask({ method: 'GET', path: PLACE });
    return (required(code, body) as unknown as { items: SeenSecret[] }).items.map(({ data }) => decoded(data));
  }

  /** A single key `value` is a value; any others are the JSON of a secret. */
  async read(name: string): Promise<OutsideSecret | undefined> {
    const seen = await this.see(name);
    if (!seen) return undefined;
    const { value, ...others } = seen.data;
    const alone = value !== undefined && Object.keys(others).length === 0;
    return { value: alone ? value : JSON.stringify(seen.data), tags: seen.metadata.labels ?? {} };
  }

  async write(name: string, value: string): Promise<void> {
    const there = await this.see(name);
    await this.set(
      name,
      there && !('value' in there.data) ? Object.fromEntries(Object.keys(there.data).map((key) => [key, value])) : { value },
    );
  }

  /** Sets keys as another field manager, and makes the Secret where there is none. */
  async set(name: string, data: Readonly<Record<string, string>>, more: object = {}): Promise<void> {
    const encoded = Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')]));
    const type = 'application/merge-patch+json';
    const path = `${PLACE}/${name}?fieldManager=kubectl-edit`;
    const changed = await this.cluster.ask({ method: 'PATCH', path, type, body: { data: encoded, ...more } });
    if (changed.code !== 404) return void required(changed.code, changed.body);
    const body = { apiVersion: 'v1', kind: 'Secret', metadata: { name }, data: encoded, ...more };
    const made = await this.cluster.ask({ method: 'POST', path: `${PLACE}?fieldManager=kubectl-create`, body });
    required(made.code, made.body);
  }

  async remove(name: string): Promise<void> {
    await this.cluster.ask({ method: 'DELETE', path: `${PLACE}/${name}` });
  }

  /** Removes every Secret of the namespace. */
  async empty(): Promise<void> {
    await this.cluster.ask({ method: 'DELETE', path: PLACE });
  }

  requests(): number {
    return this.cluster.requests.length;
  }

  fail(how: 'throttled' | 'failing' | 'hanging'): void {
    this.cluster.become(how === 'throttled' ? { busy: 7 } : how === 'failing' ? 'failing' : 'silent');
  }

  heal(): void {
    this.cluster.become('well');
  }
}

function decoded(data: SeenSecret['data'] = {}): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text, 'base64').toString()]));
}

function required(code: number, body: ClusterAnswer['body']): ClusterAnswer['body'] {
  if (code >= 300) throw new Error(`the cluster answers ${code}: ${JSON.stringify(body)}`);
  return body;
}
