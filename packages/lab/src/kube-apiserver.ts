import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startApiFront, type FrontRequest } from './api-front.ts';
import { json, type ClusterAnswer } from './cluster-status.ts';
import { etcdMissing, startEtcd } from './etcd-cluster.ts';
import type { ClusterRequest, KubernetesCluster } from './kubernetes-cluster.ts';
import { freePorts } from './loopback.ts';
import { rsaKeyPair } from './rsa-keys.ts';
import { startProcess } from './server-process.ts';
import { createTestCa } from './test-ca.ts';

/** The variable with the path of the program `kube-apiserver`. */
const PROGRAM = 'STRONGROOM_KUBE_APISERVER';
const READY_MS = 60_000;

/** What `scripts/install-kube-apiserver.mjs` leaves. */
const BUILT = fileURLToPath(new URL('../../../.strongroom/kube-apiserver-1.34.4/kube-apiserver', import.meta.url));

function programPath(): string | undefined {
  return process.env[PROGRAM] || (existsSync(BUILT) ? BUILT : undefined);
}

/** Why no real API server can be started here; undefined where it can. */
export function kubeApiserverMissing(): string | undefined {
  if (programPath() === undefined) {
    return `there is no kube-apiserver: node packages/lab/scripts/install-kube-apiserver.mjs builds one, or ${PROGRAM} names one`;
  }
  return etcdMissing();
}

/** A real one, which clients that need more than JSON, such as kubectl, reach without the front. */
export interface KubeApiserver extends KubernetesCluster {
  readonly itself: { readonly url: string; readonly ca: string };
}

/**
 * A real kube-apiserver with its own etcd, both on free loopback ports. It checks rights by roles, and issues tokens of service accounts. There are no controllers
 * and no nodes: nothing fills a namespace, and nothing runs.
 */
export async function startKubeApiserver(): Promise<KubeApiserver> {
  const program = programPath();
  if (program === undefined) throw new Error(kubeApiserverMissing());
  const etcd = await startEtcd({ asShipped: true });
  const folder = await mkdtemp(join(tmpdir(), 'strongroom-kube-'));
  const [port] = (await freePorts(1)) as [number];
  const testCa = createTestCa();
  const manager = randomBytes(24).toString('hex');
  const undo: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true }), () => etcd.stop()];
  const stop = async (): Promise<void> => {
    for (const work of undo.splice(0).reverse()) await work();
  };
  try {
    const { cert, key } = testCa.issue('kube-apiserver', ['IP:127.0.0.1']);
    const { privateKey } = rsaKeyPair();
    const files = {
      'server.pem': cert,
      'server.key': key,
      'accounts.key': privateKey.export({ type: 'pkcs1', format: 'pem' }) as string,
      'tokens.csv': `${manager},manager,manager,system:masters\n`,
    };
    await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(folder, name), text, { mode: 0o600 })));
    const file = (name: keyof typeof files): string => join(folder, name);
    const server = await startProcess(program, {
      args: [
        `--etcd-servers=${etcd.endpoints[0]}`,
        '--bind-address=127.0.0.1',
        '--advertise-address=127.0.0.1',
        `--secure-port=${port}`,
        `--tls-cert-file=${file('server.pem')}`,
        `--tls-private-key-file=${file('server.key')}`,
        `--token-auth-file=${file('tokens.csv')}`,
        '--authorization-mode=RBAC',
        '--endpoint-reconciler-type=none',
        '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
        `--service-account-key-file=${file('accounts.key')}`,
        `--service-account-signing-key-file=${file('accounts.key')}`,
        '--service-cluster-ip-range=10.0.0.0/24',
        // No controller makes the account that pods have.
        '--disable-admission-plugins=ServiceAccount',
      ],
      cwd: folder,
      ready: 'Serving securely',
      timeoutMs: READY_MS,
    });
    undo.push(() => server.end());
    const agent = new https.Agent({ keepAlive: true, ca: testCa.certificate });
    undo.push(async () => agent.destroy());
    const itself = { url: `https://127.0.0.1:${port}`, ca: testCa.certificate };
    const forward = async (request: FrontRequest): Promise<ClusterAnswer> => forwarded(itself.url, agent, request);
    const ask = async ({ method, path, body, type = 'application/json', accept = 'application/json', bearer = manager }: ClusterRequest) =>
      forward({ method, path, bearer, accept, type, body: body === undefined ? '' : JSON.stringify(body) });
    await made(ask);
    const front = await startApiFront(forward);
    undo.push(() => front.stop());
    return Object.defineProperties(
      { manager, ask, itself },
      { ...Object.getOwnPropertyDescriptors(front), stop: { value: stop } },
    ) as KubeApiserver;
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Waits until the server has made its own roles and namespaces, and makes those of the tests. */
async function made(ask: KubernetesCluster['ask']): Promise<void> {
  const ready = async (): Promise<boolean> => {
    const paths = ['/readyz?verbose', '/api/v1/namespaces/default', '/api/v1/namespaces/kube-system'];
    const answers = await Promise.all(paths.map((path) => ask({ method: 'GET', path }).catch(() => undefined)));
    return answers.every((answer) => answer?.code === 200);
  };
  // The server itself keeps the time: it says that it serves before it is ready.
  for (const end = performance.now() + READY_MS; !(await ready()); await delay(100)) {
    if (performance.now() > end) throw new Error('kube-apiserver was not ready in time');
  }
  const metadata = (name: string, team: string): object => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: { team } } });
  await ask({ method: 'POST', path: '/api/v1/namespaces', body: metadata('prod', 'blue') });
  const type = 'application/merge-patch+json';
  await ask({ method: 'PATCH', path: '/api/v1/namespaces/default', type, body: { metadata: { labels: { team: 'red' } } } });
}

function forwarded(url: string, agent: https.Agent, { method, path, bearer, accept, type, body }: FrontRequest): Promise<ClusterAnswer> {
  const headers = {
    accept,
    authorization: `Bearer ${bearer}`,
    ...(body === '' ? {} : { 'content-type': type, 'content-length': Buffer.byteLength(body) }),
  };
  return new Promise((resolve, reject) => {
    const request = https.request(`${url}${path}`, { method, headers, agent }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ code: answer.statusCode ?? 0, body: json(text) ?? { text } });
      });
      answer.on('error', reject);
    });
    request.on('error', reject).end(body);
  });
}
