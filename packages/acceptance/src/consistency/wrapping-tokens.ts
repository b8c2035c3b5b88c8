import { newName, SharedObjects, type Scenario } from './scenario.ts';

/** Wrapping tokens that several clients unwrap at the same time: one of them gets what is inside. */
export function wrappingTokens(): Scenario {
  const shared = new SharedObjects({
    count: 3,
    uses: 4,
    make: async ({ node, rootToken: token }) => {
      const call = { method: 'POST', path: 'sys/wrapping/wrap', token, body: { a: 1 }, headers: { 'X-Vault-Wrap-TTL': '10m' } } as const;
      const made = await node.must(call).catch(() => undefined);
      return made && { name: newName('wrapping-token'), token: (made['wrap_info'] as { token: string }).token };
    },
  });
  return {
    name: 'wrapping tokens',
    step: async (step) => {
      const { client, node, history } = step;
      const one = await shared.take(step);
      if (!one) return;
      await history.record({ model: 'once', key: one.name, client }, { op: 'unwrap' }, async () =>
        node.outcome({ method: 'POST', path: 'sys/wrapping/unwrap', token: one.token }, ({ status }) => ({ ok: status === 200 })),
      );
    },
  };
}
