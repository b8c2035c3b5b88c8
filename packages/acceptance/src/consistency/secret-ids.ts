import { newName, SharedObjects, type Scenario } from './scenario.ts';

const USES = 3;

/** Secret ids of AppRole that are good for a number of logins. */
export function secretIds(): Scenario {
  let role_id = '';
  const shared = new SharedObjects({
    count: 3,
    uses: USES + 3,
    make: async ({ node, rootToken: token }) => {
      const made = await node.must({ method: 'POST', path: 'auth/approle/role/app/secret-id', token }).catch(() => undefined);
      return made && { name: newName('secret-id'), secret_id: (made['data'] as { secret_id: string }).secret_id };
    },
  });
  return {
    name: 'secret ids',
    prepare: async (node, token) => {
      await node.must({ method: 'POST', path: 'sys/auth/approle', token, body: { type: 'approle' } });
      // Logins with a secret id that is used up are part of the load, and must not lock the role.
      await node.must({ method: 'POST', path: 'sys/auth/approle/tune', token, body: { user_lockout_config: { lockout_disable: true } } });
      const body = { secret_id_num_uses: USES, token_ttl: '1h' };
      await node.must({ method: 'POST', path: 'auth/approle/role/app', token, body });
      const read = await node.must({ method: 'GET', path: 'auth/approle/role/app/role-id', token });
      ({ role_id } = read['data'] as { role_id: string });
    },
    step: async (step) => {
      const { client, node, history } = step;
      const one = await shared.take(step);
      if (!one) return;
      const body = { role_id, secret_id: one.secret_id };
      await history.record({ model: 'uses', key: one.name, client }, { op: 'login', uses: USES }, async () =>
        node.outcome({ method: 'POST', path: 'auth/approle/login', body }, ({ status }) => ({ ok: status === 200 })),
      );
    },
  };
}
