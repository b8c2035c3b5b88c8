import { newName, SharedObjects, type Scenario } from './scenario.ts';

/** Leases that a cap allows. */
const ROOM = 5;

/** Roles of AppRole with a cap on their tokens, to which clients log in through any node until there is no room, and after that. */
export function leaseQuotas(): Scenario {
  const shared = new SharedObjects({
    count: 2,
    uses: 200,
    make: async ({ node, rootToken: token }) => {
      const name = newName('quota');
      const role = `auth/capped/role/${name}`;
      try {
        await node.must({
          method: 'POST',
          path: role,
          token,
          body: { bind_secret_id: false, secret_id_bound_cidrs: '127.0.0.1/32', token_ttl: '1h' },
        });
        const { role_id } = (await node.must({ method: 'GET', path: `${role}/role-id`, token }))['data'] as { role_id: string };
        const cap = { path: 'auth/capped', role: name, max_leases: ROOM };
        await node.must({ method: 'POST', path: `sys/quotas/lease-count/${name}`, token, body: cap });
        return { name, role_id };
      } catch {
        return undefined;
      }
    },
  });
  return {
    name: 'lease quotas',
    prepare: async (node, token) => {
      await node.must({ method: 'POST', path: 'sys/auth/capped', token, body: { type: 'approle' } });
      await node.must({ method: 'POST', path: 'sys/auth/capped/tune', token, body: { user_lockout_config: { lockout_disable: true } } });
    },
    step: async (step) => {
      const { client, node, history } = step;
      const one = await shared.take(step);
      if (!one) return;
      const body = { role_id: one.role_id };
      await history.record({ model: 'quota', key: one.name, client }, { op: 'login', uses: ROOM }, async () =>
        node.outcome({ method: 'POST', path: 'auth/capped/login', body }, ({ status }) => ({ ok: status === 200 })),
      );
    },
  };
}
