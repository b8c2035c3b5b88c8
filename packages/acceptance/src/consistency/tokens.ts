import { newName, SharedObjects, type Scenario } from './scenario.ts';

/** Tokens that look themselves up, through any node, while another client revokes them. */
export function tokens(): Scenario {
  const shared = new SharedObjects({
    count: 4,
    uses: 25,
    make: async ({ node, rootToken: token }) => {
      const made = await node.must({ method: 'POST', path: 'auth/token/create-orphan', token, body: { ttl: '1h' } }).catch(() => undefined);
      return made && { name: newName('token'), token: (made['auth'] as { client_token: string }).client_token };
    },
  });
  return {
    name: 'tokens',
    step: async (step) => {
      const { client, node, history, random, rootToken } = step;
      const one = await shared.take(step);
      if (!one) return;
      const about = { model: 'token' as const, key: one.name, client };
      if (random() < 0.9) {
        await history.record({ ...about, reads: true }, { op: 'lookup' }, async () =>
          node.outcome({ method: 'GET', path: 'auth/token/lookup-self', token: one.token }, ({ status }) => ({ ok: status === 200 })),
        );
        return;
      }
      const body = { token: one.token };
      await history.record(about, { op: 'revoke' }, async () =>
        node.outcome({ method: 'POST', path: 'auth/token/revoke', token: rootToken, body }, () => ({ ok: true })),
      );
    },
  };
}
