import { createDirectory, LdapError } from '@strongroom/ldap-client';
import { startSlapd } from '@strongroom/lab';

export const ACCOUNTS = 'ou=svc,dc=example,dc=org';
/** Where accounts of leases are made. */
export const LEASED = 'ou=app,dc=example,dc=org';
/** The group that they join. */
export const GROUP = 'cn=leased,ou=groups,dc=example,dc=org';
const NOBODY = 'cn=nobody';

/** A real slapd that a server under torture manages accounts of: `svc1` to `svc20` and `lent0` to `lent59` exist. */
export interface TortureDirectory {
  readonly url: string;
  /** Entries that may do everything, also change their own passwords. */
  readonly managers: readonly { readonly dn: string; readonly password: string }[];
  /** Entries below `LEASED` and members of `GROUP`: the names of accounts that leases made, each once. */
  leased(): Promise<readonly string[]>;
  /** Rejects as the directory does. */
  login(account: string, password: string): Promise<void>;
  /** Whether the password logs in. */
  takes(account: string, password: string): Promise<boolean>;
  stop(): Promise<void>;
}

export async function tortureSlapd(): Promise<TortureDirectory> {
  const managers = Array.from({ length: 11 }, (_, i) => ({ dn: `cn=manager${i},dc=example,dc=org`, password: 'manager-first' }));
  const slapd = await startSlapd({
    ldif: [
      ...managers.map(({ dn, password }, i) => `dn: ${dn}\nobjectClass: person\ncn: manager${i}\nsn: manager\nuserPassword: ${password}\n`),
      ...Array.from(
        { length: 60 },
        (_, i) =>
          `dn: uid=lent${i},${ACCOUNTS}\nobjectClass: account\nobjectClass: simpleSecurityObject\nuid: lent${i}\nuserPassword: of-old\n`,
      ),
      `dn: ${LEASED}\nobjectClass: organizationalUnit\nou: app\n`,
      `dn: ${GROUP}\nobjectClass: groupOfNames\ncn: leased\nmember: ${NOBODY}\n`,
    ].join('\n'),
    config: `access to * by dn.regex="^cn=manager[0-9]+,dc=example,dc=org$" manage by anonymous auth by self write by * read`,
  });
  const directory = createDirectory({ urls: [slapd.url] });
  const admin = { dn: slapd.adminDn, password: slapd.adminPassword };
  const login = async (account: string, password: string): Promise<void> =>
    directory.verifyUser(`uid=${account},${account.startsWith('v_') ? LEASED : ACCOUNTS}`, password);
  return {
    url: slapd.url,
    managers,
    leased: async () =>
      directory.withServiceConnection(admin, async (connection) => {
        const entries = await connection.search({ base: LEASED, filter: '(uid=*)', attributes: ['uid'] });
        const [group] = await connection.search({ base: GROUP, scope: 'base', attributes: ['member'] });
        return [...new Set([...entries.map(({ dn }) => dn), ...group!.values('member').filter((member) => member !== NOBODY)])];
      }),
    login,
    takes: async (account, password) => {
      try {
        await login(account, password);
        return true;
      } catch (error) {
        if (error instanceof LdapError && error.answered) return false;
        throw error;
      }
    },
    stop: async () => {
      directory.close();
      await slapd.stop();
    },
  };
}
