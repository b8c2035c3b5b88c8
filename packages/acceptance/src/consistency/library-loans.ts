import { startSlapd, type Slapd } from '@strongroom/lab';
import type { Scenario } from './scenario.ts';

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
      const outcome = await history.record(about, { op }, async () =>
        node.outcome({ method: 'POST', path: `ldap/library/${name}/${op}`, token, body }, ({ status }) => ({ ok: status === 200 })),
      );
      // Whoever does not know whether the account is lent brings it back as well: nobody else would.
      if (outcome === 'unknown' || (typeof outcome === 'object' && outcome.ok && op === 'check-out')) borrowed.add(mine);
    },
    close: async () => slapd.stop(),
  };
}
