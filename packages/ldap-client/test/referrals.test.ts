import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { describeWithSlapd, freePorts, peopleBelow, referralEntry, startSlapd, type Slapd } from '@strongroom/lab';
import { applyPasswordChange, createDirectory, proveBind, type Directory, type LdapError, type LdapSettings } from '../src/index.ts';
import { parseReferralUrl } from '../src/referral-url.ts';

const root = 'dc=example,dc=org';
const admin = { dn: `cn=admin,${root}`, password: 'adminpw' };

describe('the URL of a referral', () => {
  test('says where, and may say another base, scope and filter', () => {
    expect(parseReferralUrl('LDAP://DC2.corp.example/ou=a%20b,dc=x?cn?one?(uid=%2a)')).toEqual({
      text: 'LDAP://DC2.corp.example/ou=a%20b,dc=x?cn?one?(uid=%2a)',
      server: 'ldap://dc2.corp.example:389',
      secure: false,
      host: 'dc2.corp.example',
      port: 389,
      base: 'ou=a b,dc=x',
      scope: 'one',
      filter: '(uid=*)',
    });
    expect(parseReferralUrl('ldaps://[::1]')).toMatchObject({
      server: 'ldaps://[::1]:636',
      host: '::1',
      base: undefined,
      scope: undefined,
    });
  });

  test.each([
    'http://a/b',
    'ldap:///dc=x',
    'ldap://a:99999/dc=x',
    'ldap://a/%zz',
    'ldap://a/dc=x??wide',
    'ldap://a/dc=x????!bindname=cn=b',
    '',
  ])('is passed over where nobody may follow it: %j', (text) => {
    expect(parseReferralUrl(text)).toBeUndefined();
  });
});

describeWithSlapd('referrals to another server', () => {
  let second: Slapd;
  let first: Slapd;
  let replica: Slapd;
  let dead: number;
  const open: Directory[] = [];

  beforeAll(async () => {
    const ports = await freePorts(1);
    dead = ports[0]!;
    second = await startSlapd({
      ldif: peopleBelow('away', root, { ann: 'annpw', bob: 'bobpw' }),
    });
    const to = (name: string): string => `ldap://127.0.0.1:${second.port}/${name}`;
    first = await startSlapd({
      ldif: [
        referralEntry('ou=away', root, [to(`ou=away,${root}`)]),
        referralEntry('ou=narrow', `ou=groups,${root}`, [to(`ou=people,${root}??base`)]),
        referralEntry('ou=stale', `ou=svc,${root}`, [to(`ou=nowhere,${root}`)]),
        peopleBelow('odd', root, {}),
        referralEntry('ou=spare', `ou=odd,${root}`, [`ldap://127.0.0.1:${dead}/ou=away,${root}`, to(`ou=away,${root}`)]),
        peopleBelow('broken', root, {}),
        referralEntry('ou=down', `ou=broken,${root}`, [`ldap://127.0.0.1:${dead}/ou=away,${root}`]),
      ].join('\n'),
    });
    replica = await startSlapd({
      config: `syncrepl rid=1 provider=${second.url} searchbase="${root}" type=refreshOnly bindmethod=simple binddn="${admin.dn}" credentials=adminpw retry="3600 +"\nupdateref ${second.url}`,
    });
  });
  afterAll(async () => {
    await Promise.all([first?.stop(), second?.stop(), replica?.stop()]);
  });
  afterEach(() => {
    for (const directory of open.splice(0)) directory.close();
  });

  const directoryOf = (settings: Partial<LdapSettings> = {}): Directory => {
    const made = createDirectory({ urls: [first.url], referralHosts: [`127.0.0.1:${second.port}`], ...settings });
    open.push(made);
    return made;
  };
  const search = async (directory: Directory, base: string, filter: string, more: object = {}) =>
    directory.withServiceConnection(admin, async (connection) => connection.search({ base, filter, attributes: ['uid', 'ou'], ...more }));
  const failure = async (work: Promise<unknown>): Promise<LdapError> =>
    work.then(
      () => {
        throw new Error('it did not fail');
      },
      (error: unknown) => error as LdapError,
    );
  const broad = { scope: 'one' } as const;

  test('a search finds what a continuation reference leads to, and the entry knows its server', async () => {
    const directory = directoryOf();
    const [ann, ...more] = await search(directory, `ou=away,${root}`, '(uid=ann)');
    expect(more).toEqual([]);
    expect([ann?.dn, ann?.server]).toEqual([`uid=ann,ou=away,${root}`, `ldap://127.0.0.1:${second.port}`]);
    const found = await search(directory, root, '(ou=away)', broad);
    expect(found.map(({ dn, server }) => [dn, server])).toEqual([[`ou=away,${root}`, `ldap://127.0.0.1:${second.port}`]]);
    const [own] = await search(directory, `ou=people,${root}`, '(uid=user1)');
    expect(own?.server).toBeUndefined();
  });

  test('the base and the scope of the URL are honoured', async () => {
    const found = await search(directoryOf(), `ou=groups,${root}`, '(objectClass=*)');
    expect(found.filter(({ server }) => server !== undefined).map(({ dn }) => dn)).toEqual([`ou=people,${root}`]);
  });

  test('the size limit holds for all servers together', async () => {
    const directory = directoryOf();
    await expect(search(directory, `ou=away,${root}`, '(uid=*)', { sizeLimit: 2 })).resolves.toHaveLength(2);
    expect(await failure(search(directory, `ou=away,${root}`, '(uid=*)', { sizeLimit: 1 }))).toMatchObject({ code: 4 });
    await expect(search(directory, `ou=groups,${root}`, '(|(cn=eng)(ou=people))', { sizeLimit: 2 })).resolves.toHaveLength(2);
    expect(await failure(search(directory, `ou=groups,${root}`, '(|(cn=eng)(ou=people))', { sizeLimit: 1 }))).toMatchObject({ code: 4 });
  });

  test('a reference to an entry that is not there is passed over', async () => {
    await expect(search(directoryOf(), `ou=svc,${root}`, '(uid=svc1)')).resolves.toHaveLength(1);
  });

  test('a host that is not listed is never asked: a reference is skipped, and a referral is an error with its URL', async () => {
    const directory = directoryOf({ referralHosts: ['elsewhere.example', '127.0.0.1'] });
    await expect(search(directory, root, '(ou=away)', broad)).resolves.toEqual([]);
    const error = await failure(search(directory, `ou=away,${root}`, '(uid=ann)'));
    expect(error).toMatchObject({ code: 10 });
    expect(error.message).toContain(`ldap://127.0.0.1:${second.port}/ou=away,${root}`);
  });

  test('of servers that are equally good, the next one is asked when one is down', async () => {
    const directory = directoryOf({ referralHosts: [`127.0.0.1:${second.port}`, `127.0.0.1:${dead}`] });
    const [ann] = await search(directory, `ou=odd,${root}`, '(uid=ann)');
    expect(ann?.server).toBe(`ldap://127.0.0.1:${second.port}`);
  });

  test('a listed host that is down is an error that names it', async () => {
    const directory = directoryOf({ referralHosts: [`127.0.0.1:${dead}`] });
    const error = await failure(search(directory, `ou=broken,${root}`, '(uid=ann)'));
    expect(error).toMatchObject({ name: 'ReferralError', code: 'NETWORK', server: `ldap://127.0.0.1:${dead}` });
    expect(error.message).toContain(`ldap://127.0.0.1:${dead}`);
    expect(error.message).not.toContain('adminpw');
  });

  test('an encrypted connection follows no referral in clear, unless StartTLS encrypts it', async () => {
    const warnings: unknown[] = [];
    const settings = { urls: [first.ldapsUrl], insecureTls: true, referralHosts: [`127.0.0.1:${second.port}`] };
    const directory = createDirectory(settings, { log: { warn: (_text: string, facts: unknown) => void warnings.push(facts) } as never });
    open.push(directory);
    await expect(search(directory, root, '(ou=away)', broad)).resolves.toEqual([]);
    await expect(search(directory, root, '(ou=away)', broad)).resolves.toEqual([]);
    expect(warnings).toEqual([{ url: `ldap://127.0.0.1:${second.port}`, reason: expect.stringContaining('starttls') }]);
    expect(await failure(search(directory, `ou=away,${root}`, '(uid=ann)'))).toMatchObject({ code: 10 });
    await expect(search(directoryOf({ ...settings, starttls: true }), `ou=away,${root}`, '(uid=ann)')).resolves.toHaveLength(1);
  });

  test('a user is verified at the server of the entry alone', async () => {
    const directory = directoryOf();
    const [ann] = await search(directory, `ou=away,${root}`, '(uid=ann)');
    await directory.verifyUser(ann!.dn, 'annpw', { server: ann!.server });
    expect(await failure(directory.verifyUser(ann!.dn, 'wrong', { server: ann!.server }))).toMatchObject({ code: 49 });
    expect(await failure(directory.verifyUser(ann!.dn, 'annpw'))).toMatchObject({ answered: true });
    expect(await failure(directory.verifyUser(ann!.dn, 'annpw', { server: `ldap://127.0.0.1:${dead}` }))).toMatchObject({
      code: 'INVALID',
    });
  });

  test('changes go where the entry was found, and to where the server refers them', async () => {
    const directory = directoryOf();
    const dn = `uid=bob,ou=away,${root}`;
    const change = async (server?: string) =>
      directory.withServiceConnection(admin, async (connection) =>
        connection.modify(dn, [{ operation: 'replace', attribute: 'sn', values: [server ?? 'referred'] }], { server }),
      );
    const sn = async () => (await search(directory, dn, '(objectClass=*)', { attributes: ['sn'] }))[0]?.first('sn');
    await change();
    expect(await sn()).toBe('referred');
    await change(`ldap://127.0.0.1:${second.port}`);
    expect(await sn()).toBe(`ldap://127.0.0.1:${second.port}`);
    const fresh = `uid=carol,ou=away,${root}`;
    await directory.withServiceConnection(admin, async (connection) => {
      const values = Object.entries({ objectClass: 'inetOrgPerson', uid: 'carol', cn: 'carol', sn: 'carol' });
      await connection.add(
        fresh,
        values.map(([attribute, value]) => ({ attribute, values: [value] })),
      );
      await connection.modifyDn(fresh, { newRdn: 'uid=dora' });
      await connection.delete(`uid=dora,ou=away,${root}`);
    });
  });

  test('a password that a read-only replica refers is changed, and proven, at the server that takes changes', async () => {
    const directory = directoryOf({ urls: [replica.url] });
    const dn = `uid=svc3,ou=svc,${root}`;
    await applyPasswordChange(
      (work, use) => directory.withServiceConnection(admin, work, use),
      { find: async () => ({ dn }), changes: [{ operation: 'replace', attribute: 'userPassword', values: ['changed'] }] },
      new AbortController().signal,
    );
    expect(await proveBind(directory, dn, { candidate: 'changed', current: 'pw3' }, new AbortController().signal)).toBe('candidate');
    const plain = createDirectory({ urls: [replica.url] });
    open.push(plain);
    const refused = await failure(
      plain.withServiceConnection(admin, async (connection) =>
        connection.modify(dn, [{ operation: 'replace', attribute: 'sn', values: ['x'] }]),
      ),
    );
    expect(refused).toMatchObject({ code: 10 });
    expect(refused.message).toContain(`ldap://127.0.0.1:${second.port}`);
  });
});

describeWithSlapd('referrals that lead nowhere', () => {
  test('a circle and more than five in a row are errors', async () => {
    const servers: Slapd[] = [];
    const chain = (server: Slapd): string => `ldap://127.0.0.1:${server.port}`;
    try {
      const one = await startSlapd({ ldif: '' });
      servers.push(one);
      const rows = Array.from({ length: 7 }, (_, index) => referralEntry(`ou=r${index}`, root, [`${chain(one)}/ou=r${index + 1},${root}`]));
      const directory = createDirectory({ urls: [one.url], referralHosts: [`127.0.0.1:${one.port}`] });
      const entries = [
        ...rows,
        referralEntry('ou=ring', root, [`${chain(one)}/ou=gnir,${root}`]),
        referralEntry('ou=gnir', root, [`${chain(one)}/ou=ring,${root}`]),
      ];
      try {
        await directory.withServiceConnection(admin, async (connection) => {
          for (const entry of entries) {
            const lines = entry
              .trim()
              .split('\n')
              .map((line) => line.split(/: /) as [string, string]);
            const values = new Map<string, string[]>();
            for (const [attribute, value] of lines.slice(1)) values.set(attribute, [...(values.get(attribute) ?? []), value]);
            await connection.add(
              lines[0]![1],
              [...values].map(([attribute, all]) => ({ attribute, values: all })),
            );
          }
        });
        const tried = async (base: string): Promise<unknown> =>
          directory
            .withServiceConnection(admin, async (connection) => connection.search({ base, scope: 'base' }))
            .catch((error: unknown) => error);
        expect(await tried(`ou=ring,${root}`)).toMatchObject({ code: 10, message: expect.stringContaining('circle') });
        expect(await tried(`ou=r0,${root}`)).toMatchObject({ code: 10, message: expect.stringContaining('more than 5') });
        expect(await tried(`ou=r3,${root}`)).toMatchObject({ code: 32 });
        const changed = directory.withServiceConnection(admin, async (connection) => connection.delete(`ou=x,ou=ring,${root}`));
        await expect(changed).rejects.toMatchObject({ code: 10, message: expect.stringContaining('circle') });
      } finally {
        directory.close();
      }
    } finally {
      for (const server of servers) await server.stop();
    }
  });
});
