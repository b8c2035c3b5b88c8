import type { Answer } from './node-client.ts';
import { newName, SharedObjects, type Scenario } from './scenario.ts';
import type { Output } from './history.ts';

interface Versioned {
  readonly data?: { readonly value?: string } | null;
  readonly metadata?: { readonly version?: number };
  readonly version?: number;
}

/** Secrets of version 2 of key-value: read, written, and written with check-and-set. */
export function registers(): Scenario {
  const shared = new SharedObjects({ count: 4, uses: 60, make: async () => ({ name: newName('register'), seen: 0 }) });
  return {
    name: 'registers',
    prepare: async (node, token) => {
      await node.must({ method: 'POST', path: 'sys/mounts/registers', token, body: { type: 'kv', options: { version: '2' } } });
    },
    step: async (step) => {
      const { client, node, history, random, rootToken: token } = step;
      const register = (await shared.take(step))!;
      const path = `registers/data/${register.name}`;
      const about = { model: 'register' as const, key: register.name, client };
      const choice = random();
      if (choice < 0.5) {
        const found = await history.record({ ...about, reads: true }, { op: 'read' }, async () =>
          node.outcome({ method: 'GET', path, token }, read),
        );
        if (typeof found === 'object') register.seen = found.version!;
        return;
      }
      const value = newName('value');
      const expected = choice < 0.8 ? register.seen : undefined;
      const body = { data: { value }, ...(expected === undefined ? {} : { options: { cas: expected } }) };
      const input = expected === undefined ? { op: 'write', value } : { op: 'cas', value, expected };
      const outcome = await history.record(about, input, async () => node.outcome({ method: 'POST', path, token, body }, written));
      // Each write whose effect is not known doubles the work of the check.
      if (outcome === 'unknown') shared.retire(register);
    },
  };
}

function read({ status, body }: Answer): Output {
  const { data, metadata } = (body['data'] ?? {}) as Versioned;
  return status === 200 ? { ok: true, version: metadata!.version!, value: data!.value! } : { ok: true, version: 0, value: '' };
}

function written({ status, body }: Answer): Output {
  return status === 200 ? { ok: true, version: (body['data'] as Versioned).version! } : { ok: false };
}
