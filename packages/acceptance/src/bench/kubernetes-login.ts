import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { BenchServer } from './bench-server.ts';
import { requestText } from './http-connection.ts';
import { load, once, repeat, type Figures, type Operation } from './load.ts';

const ACCOUNTS = 50;

interface Api {
  readonly url: string;
  readonly ca: string;
  readonly reviewer: string;
  readonly tokens: readonly string[];
}

interface Counts {
  readonly connections: number;
  readonly mostAtOnce: number;
  readonly requests: number;
}

export interface KubernetesFigures extends Counts {
  readonly login: Figures;
}

/** Logins over HTTP with tokens of 50 accounts: one review each by an emulated API server over TLS, policies, identity, and a durable token. */
export async function kubernetesLogins({ target }: BenchServer, seconds: number): Promise<KubernetesFigures> {
  const child = fork(fileURLToPath(new URL('./emulated-kubernetes-main.js', import.meta.url)), [String(ACCOUNTS)]);
  try {
    const api = await nextMessage<Api>(child);
    await once(target, 'POST', '/v1/sys/auth/kubernetes', { type: 'kubernetes' });
    const config = { kubernetes_host: api.url, kubernetes_ca_cert: api.ca, token_reviewer_jwt: api.reviewer };
    await once(target, 'POST', '/v1/auth/kubernetes/config', config);
    const bounds = { bound_service_account_names: 'app-*', bound_service_account_namespaces: 'default', audience: 'strongroom' };
    await once(target, 'POST', '/v1/auth/kubernetes/role/app', { ...bounds, token_policies: 'app', token_ttl: '1h' });
    const texts = api.tokens.map((jwt) => requestText('POST', '/v1/auth/kubernetes/login', '', JSON.stringify({ role: 'app', jwt })));
    const operation: Operation = async (connection, random) => repeat(texts[Math.floor(random() * ACCOUNTS)]!)(connection, random);
    await load('warm up', target, operation, { seconds: 2 });
    const login = await load('k8s login', target, operation, { seconds });
    const counts = nextMessage<Counts>(child);
    child.send('counts');
    return { login, ...(await counts) };
  } finally {
    child.kill();
  }
}

async function nextMessage<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    child.once('message', (message) => resolve(message as T));
    child.once('exit', (code) => reject(new Error(`the emulated API server ended with ${code}`)));
  });
}
