import { mountForTest, type TestMount, type TestMountOptions } from '@strongroom/engine-testkit';
import type { Slapd } from '@strongroom/lab';
import type { CoreResponse } from '@strongroom/core';
import { createDirectory, LdapError, type Connection, type Directory, type LdapEntry } from '@strongroom/ldap-client';
import { ldapSecrets } from '../src/index.ts';

export const SVC = 'ou=svc,dc=example,dc=org';

/** An entry that manages the others, unlike the administrator of slapd's configuration: its password can be changed. */
export const managerDn = 'cn=manager,dc=example,dc=org';
export const managerPassword = 'manager-first';
export const withManager = {
  ldif: `dn: ${managerDn}\nobjectClass: person\ncn: manager\nsn: manager\nuserPassword: ${managerPassword}\n`,
  config: `access to * by dn.exact="${managerDn}" manage by anonymous auth by self write by * read`,
};

export function configFor({ url }: Pick<Slapd, 'url'>, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { url, binddn: managerDn, bindpass: managerPassword, userdn: SVC, userattr: 'uid', ...more };
}

/** The engine at `ldap/`, configured for the server. */
export async function mountLdap(
  slapd: Pick<Slapd, 'url'>,
  options: TestMountOptions & { readonly config?: Record<string, unknown> } = {},
): Promise<TestMount> {
  const { config = {}, ...rest } = options;
  const mount = await mountForTest(ldapSecrets, { path: 'ldap', ...rest });
  await mount.write('config', configFor(slapd, config));
  return mount;
}

/** The directory as its administrator sees it. */
export class DirectoryView {
  readonly #directory: Directory;
  readonly #admin: { dn: string; password: string };

  constructor({ url, adminDn, adminPassword }: Pick<Slapd, 'url' | 'adminDn' | 'adminPassword'>, settings: { insecureTls?: boolean } = {}) {
    this.#directory = createDirectory({ urls: [url], ...settings });
    this.#admin = { dn: adminDn, password: adminPassword };
  }

  async takes(name: string, password: string): Promise<boolean> {
    try {
      await this.#directory.verifyUser(name, password);
      return true;
    } catch (error) {
      if (error instanceof LdapError && error.answered) return false;
      throw error;
    }
  }

  /** Entries below `base`, without it. */
  async below(base: string, filter = '(objectClass=*)'): Promise<LdapEntry[]> {
    const found = await this.asAdmin(async (connection) => connection.search({ base, filter, attributes: ['*', '+'] }));
    return found.filter(({ dn }) => dn.toLowerCase() !== base.toLowerCase());
  }

  async entry(dn: string): Promise<LdapEntry | undefined> {
    return this.asAdmin(async (connection) => {
      try {
        return (await connection.search({ base: dn, scope: 'base' }))[0];
      } catch (error) {
        if (error instanceof LdapError && error.code === 32) return undefined;
        throw error;
      }
    });
  }

  async setPassword(dn: string, password: string): Promise<void> {
    await this.asAdmin(async (connection) =>
      connection.modify(dn, [{ operation: 'replace', attribute: 'userPassword', values: [password] }]),
    );
  }

  async asAdmin<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    return this.#directory.withServiceConnection(this.#admin, work);
  }

  close(): void {
    this.#directory.close();
  }
}

/** The data of an answer that must be there. */
export function dataOf<T>(answer: CoreResponse): T {
  return answer.data as T;
}
