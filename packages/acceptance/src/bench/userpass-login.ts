import { scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import type { BenchServer } from './bench-server.ts';
import { requestText } from './http-connection.ts';
import { load, once, repeat, type Figures, type Operation } from './load.ts';

const USERS = 8;
const derive = promisify<string, string, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(scrypt);

export interface UserpassFigures {
  readonly login: Figures;
  /** Reads of key-value while logins fill the queue of hashes. */
  readonly meanwhile: Figures;
  /** The same hashes in this process, two at a time: what the machine gives at all. */
  readonly hashesPerSecond: number;
}

/** Logins over HTTP with names and passwords, each of which is one hash of a password and a durable token. */
export async function userpassLogins({ target }: BenchServer, seconds: number): Promise<UserpassFigures> {
  await once(target, 'POST', '/v1/sys/auth/userpass', { type: 'userpass' });
  await once(target, 'POST', '/v1/bench/data/beside', { data: { v: 'x' } });
  const names = Array.from({ length: USERS }, (_, i) => `user${i}`);
  for (const name of names) await once(target, 'POST', `/v1/auth/userpass/users/${name}`, { password: `pw of ${name}`, token_ttl: '1h' });
  const texts = names.map((name) =>
    requestText('POST', `/v1/auth/userpass/login/${name}`, '', JSON.stringify({ password: `pw of ${name}` })),
  );
  const operation: Operation = async (connection, random) => repeat(texts[Math.floor(random() * USERS)]!)(connection, random);
  const hashesPerSecond = await hashRate(seconds);
  const login = await load('userpass login', target, operation, { seconds });
  let flooded = true;
  const flood = load('flood', target, operation, { while: () => flooded });
  const read = repeat(requestText('GET', '/v1/bench/data/beside', target.token));
  const meanwhile = await load('  kv get beside', target, read, { seconds, connections: 4 }).finally(() => (flooded = false));
  await flood;
  return { login, meanwhile, hashesPerSecond };
}

async function hashRate(seconds: number): Promise<number> {
  const began = performance.now();
  let hashes = 0;
  const hash = async (): Promise<void> => {
    while (performance.now() - began < seconds * 1_000) {
      await derive('password', 'salt of 16 bytes', 32, { N: 2 ** 15, r: 8, p: 3, maxmem: 2 ** 26 });
      hashes += 1;
    }
  };
  await Promise.all([hash(), hash()]);
  return (1_000 * hashes) / (performance.now() - began);
}
