import ldapjs from 'ldapjs';

export interface DirectoryPerson {
  readonly uid: string;
  readonly password: string;
  readonly groups?: readonly string[];
}

/** A directory in this process that speaks real LDAP on a free loopback port. */
export interface Directory {
  readonly url: string;
  readonly adminDn: string;
  readonly adminPassword: string;
  readonly peopleDn: string;
  readonly groupsDn: string;
  stop(): Promise<void>;
}

/** What the library's types leave out of its server side. */
const ldap = ldapjs as unknown as {
  createServer(): {
    bind(dn: string, handler: unknown): void;
    search(dn: string, handler: unknown): void;
    listen(port: number, host: string, ready: () => void): void;
    close(done: () => void): void;
    address(): { port: number };
  };
} & Record<
  'InvalidCredentialsError' | 'InsufficientAccessRightsError' | 'NoSuchObjectError' | 'SizeLimitExceededError',
  new (text?: string) => Error
>;

const SUFFIX = 'dc=example,dc=org';

/** People below `ou=people` (by uid) and groups below `ou=groups` (groupOfNames, by cn); reads are for the bound only. */
export async function startDirectory(people: readonly DirectoryPerson[]): Promise<Directory> {
  const adminDn = `cn=admin,${SUFFIX}`;
  const adminPassword = 'directory-admin';
  const peopleDn = `ou=people,${SUFFIX}`;
  const groupsDn = `ou=groups,${SUFFIX}`;
  const entries = new Map<string, { dn: string; attributes: Record<string, string | string[]> }>();
  const passwords = new Map<string, string>([[key(adminDn), adminPassword]]);
  const add = (dn: string, attributes: Record<string, string | string[]>): void => void entries.set(key(dn), { dn, attributes });

  add(SUFFIX, { objectClass: ['organization', 'dcObject'], o: 'Example', dc: 'example' });
  for (const [dn, ou] of [
    [peopleDn, 'people'],
    [groupsDn, 'groups'],
  ] as const) {
    add(dn, { objectClass: 'organizationalUnit', ou });
  }
  const groups = new Map<string, string[]>();
  for (const person of people) {
    const dn = `uid=${person.uid},${peopleDn}`;
    add(dn, { objectClass: 'inetOrgPerson', uid: person.uid, cn: person.uid, sn: person.uid, mail: `${person.uid}@example.org` });
    passwords.set(key(dn), person.password);
    for (const group of person.groups ?? []) groups.set(group, [...(groups.get(group) ?? []), dn]);
  }
  for (const [cn, member] of groups) add(`cn=${cn},${groupsDn}`, { objectClass: 'groupOfNames', cn, member });

  const server = ldap.createServer();
  /** Connections whose last bind was with a password. */
  const bound = new WeakSet<object>();
  const anonymous = new ldap.InsufficientAccessRightsError('bind first');
  server.bind('', (...args: Parameters<typeof bind>) => bind(...args));
  server.search(SUFFIX, (...args: Parameters<typeof search>) => search(...args));

  type Next = (error?: Error) => void;
  const bind = (req: { dn: { toString(): string }; credentials: string; connection: object }, res: { end(): void }, next: Next): void => {
    const dn = key(req.dn.toString());
    bound.delete(req.connection);
    if (dn === '' && req.credentials === '') return res.end();
    if (req.credentials === '' || passwords.get(dn) !== req.credentials) return next(new ldap.InvalidCredentialsError());
    bound.add(req.connection);
    return res.end();
  };
  const search = (
    req: {
      dn: { toString(): string };
      scope: string | number;
      filter: { matches(attributes: object): boolean };
      sizeLimit: number;
      connection: object;
    },
    res: { send(entry: object): void; end(): void },
    next: Next,
  ): void => {
    if (!bound.has(req.connection)) return next(anonymous);
    const base = key(req.dn.toString());
    if (!entries.has(base)) return next(new ldap.NoSuchObjectError(base));
    let sent = 0;
    for (const [dn, entry] of entries) {
      const within =
        req.scope === 'base' || req.scope === 0
          ? dn === base
          : req.scope === 'one' || req.scope === 1
            ? dn.slice(dn.indexOf(',') + 1) === base
            : dn === base || dn.endsWith(`,${base}`);
      if (!within || !req.filter.matches(entry.attributes)) continue;
      if (req.sizeLimit > 0 && sent >= req.sizeLimit) return next(new ldap.SizeLimitExceededError());
      res.send({ dn: entry.dn, attributes: entry.attributes });
      sent += 1;
    }
    return res.end();
  };

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  return {
    url: `ldap://127.0.0.1:${port}`,
    adminDn,
    adminPassword,
    peopleDn,
    groupsDn,
    stop: async () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

/** Lower-case, without spaces around commas: good for a tree of plain names. */
function key(dn: string): string {
  return dn.toLowerCase().replace(/\s*,\s*/g, ',');
}
