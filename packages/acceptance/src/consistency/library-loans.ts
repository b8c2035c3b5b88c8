import { startSlapd, type Slapd } from '@strongroom/lab';
import type { Output } from './history.ts';
import type { Answer } from './node-client.ts';
import { newName, type Scenario } from './scenario.ts';

const SERVICES = 'ou=svc,dc=example,dc=org';
const SETS = 3;
const names = Array.from({ length: SETS }, (_, i) => `lent${i}`);

/** Library sets of one account each, which several clients want to borrow: one at a time has it. */
export async function libraryLoans(): Promise<Scenario> {
  const ldif = names.map(
    (uid) => `dn: uid=${uid},${SERVICES}\nobjectClass: account\nobjectClass: simpleSecurityObject\nuid: ${uid}\nuserPassword: first\n`,
  );
  const slapd: Slapd = await startSlapd({ ldif: ldif.join('\n') });
  /** Clients that borrowed, by set: they bring back before they borrow again. */
  const borrowed = new Set<string>();
  return {
    name: 'library loans',
    prepare: async (node, token) => {
      await node.must({ method: 'POST', path: 'sys/mounts/ldap', token, body: { type: 'ldap' } });
      const { url, adminDn: binddn, adminPassword: bindpass } = slapd;
      await node.must({ method: 'POST', path: 'ldap/config', token, body: { url, binddn, bindpass, userdn: SERVICES, userattr: 'uid' } });
      for (const name of names) {
        const body = { service_account_names: [name], disable_check_in_enforcement: true };
        await node.must({ method: 'POST', path: `ldap/library/${name}`, token, body });
      }
    },
    step: async (step) => {
      const { client, node, history, random, rootToken: token } = step;
      const name = names[Math.floor(random() * SETS)]!;
      const about = { model: 'loan' as const, key: name, client };
      const mine = `${client} ${name}`;
      const op = borrowed.delete(mine) ? 'check-in' : 'check-out';
      const body = op === 'check-in' ? { service_account_names: [name] } : {};
      const value = newName('loan');
      const outcome = await history.record(about, { op, value }, async () =>
        node.outcome({ method: 'POST', path: `ldap/library/${name}/${op}`, token, body }, (answer) =>
          op === 'check-in' ? returned(answer) : { ok: answer.status === 200 },
        ),
      );
      // Whoever does not know whether the account is lent brings it back as well: nobody else would.
      const lent = op === 'check-out' ? typeof outcome === 'object' && outcome.ok : outcome === 'no effect';
      if (outcome === 'unknown' || lent) borrowed.add(mine);
      // What a kill has cut off is undone some time later, or was done.
      if (outcome === 'unknown' && op === 'check-out') history.mayHappen(about, { op: 'undo', value });
    },
    close: async () => slapd.stop(),
  };
}

/** Where nothing is listed, the account was not lent, or is on its way back already. */
function returned({ status, body }: Answer): Output {
  const { check_ins: accounts } = (body['data'] ?? {}) as { readonly check_ins?: readonly string[] };
  return { ok: status === 200, version: accounts?.length ?? 0 };
}
