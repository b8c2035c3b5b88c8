import { requestText } from './http-connection.ts';
import { repeat, type Operation, type Target } from './load.ts';

const KEYS = 1_000;
const VALUE = 'x'.repeat(1_024);

/** The workloads by name; `secret/` is a version-2 key-value mount. */
export function workloads({ token }: Target): Record<string, Operation> {
  const writes = Array.from({ length: KEYS }, (_, i) =>
    requestText('POST', `/v1/secret/data/bench/${i}`, token, JSON.stringify({ data: { v: VALUE } })),
  );
  const reads = Array.from({ length: KEYS }, (_, i) => requestText('GET', `/v1/secret/data/bench/${i}`, token));
  const pick =
    (texts: readonly string[]): Operation =>
    async (connection, random) =>
      repeat(texts[Math.floor(random() * texts.length)]!)(connection, random);
  return {
    health: repeat(requestText('GET', '/v1/sys/health', '')),
    lookup: repeat(requestText('GET', '/v1/auth/token/lookup-self', token)),
    'kv write': pick(writes),
    'kv read': pick(reads),
    'token create': repeat(requestText('POST', '/v1/auth/token/create', token, '{"policies":["default"],"ttl":"1h"}')),
  };
}
