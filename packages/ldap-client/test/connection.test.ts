import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createDirectory, LdapError, parseLdif, applyLdif, resultCode } from '../src/index.ts';
import type { Connection, Directory } from '../src/index.ts';
import { describeWithSlapd, type Slapd, startSlapd, startTcpProxy } from '@strongroom/lab';

const base = 'dc=example,dc=org';

describeWithSlapd('a connection to OpenLDAP', () => {
  let slapd: Slapd;
  let directory: Directory;
  let connection: Connection;

  beforeAll(async () => {
    slapd = await startSlapd({
      ldif: `dn: cn=everyone,ou=groups,${base}
objectClass: alias
objectClass: extensibleObject
cn: everyone
aliasedObjectName: cn=eng,ou=groups,${base}
`,
    });
    directory = createDirectory({ urls: [slapd.url] });
    connection = await directory.connect();
    await connection.bind(slapd.adminDn, slapd.adminPassword);
  });

  afterAll(async () => {
    directory?.close();
    await slapd?.stop();
  });

  const failure = async (work: Promise<unknown>): Promise<LdapError> => {
    const error: unknown = await work.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(LdapError);
    return error as LdapError;
  };

  test('a bind tells who it is bound as, and a refused one leaves it anonymous', async () => {
    const own = await directory.connect();
    expect(own.boundAs).toBe('');
    expect(await own.whoAmI()).toBe('');
    await own.bind(`uid=user7,ou=people,${base}`, 'pw7');
    expect(own.boundAs).toBe(`uid=user7,ou=people,${base}`);
    expect(await own.whoAmI()).toBe(`dn:uid=user7,ou=people,${base}`);
    const error = await failure(own.bind(`uid=user7,ou=people,${base}`, 'wrong'));
    expect(error).toMatchObject({ code: resultCode.invalidCredentials, answered: true, outcomeUnknown: false, url: slapd.url });
    expect(error.message).toBe('LDAP Result Code 49 "Invalid Credentials": ');
    expect(own.boundAs).toBe('');
    expect(await own.whoAmI()).toBe('');
    own.close();
    expect(own.alive).toBe(false);
  });

  test('an empty password is refused before anything is sent, unless it is asked for', async () => {
    const own = await directory.connect();
    expect(await failure(own.bind(`uid=user7,ou=people,${base}`, ''))).toMatchObject({ code: 'EMPTY_PASSWORD' });
    await own.bind('', '', { allowUnauthenticated: true });
    expect(await failure(own.bind(`uid=user7,ou=people,${base}`, '', { allowUnauthenticated: true }))).toMatchObject({
      code: resultCode.unwillingToPerform,
      diagnosticMessage: expect.stringContaining('unauthenticated bind'),
    });
    own.close();
  });

  test('a search returns the asked attributes, looked up in any case', async () => {
    const [entry, ...others] = await connection.search({ base, filter: '(uid=user42)', attributes: ['CN', 'mail'] });
    expect(others).toEqual([]);
    expect(entry?.dn).toBe(`uid=user42,ou=people,${base}`);
    expect(entry?.first('cn')).toBe('User 42');
    expect(entry?.values('MAIL')).toEqual(['user42@example.org']);
    expect(entry?.buffers('sn')).toEqual([]);
    expect(entry?.spellingOf('Mail')).toBe('mail');
  });

  test('scopes reach the entry, its children, or all below', async () => {
    const count = async (scope: 'base' | 'one' | 'sub'): Promise<number> =>
      (await connection.search({ base: `ou=svc,${base}`, scope, attributes: ['1.1'] })).length;
    expect(await count('base')).toBe(1);
    expect(await count('one')).toBe(20);
    expect(await count('sub')).toBe(21);
  });

  test('a paged search returns what an unpaged one does', async () => {
    const request = { base: `ou=people,${base}`, filter: '(objectClass=inetOrgPerson)', attributes: ['uid'] };
    const plain = await connection.search(request);
    const paged = await connection.search({ ...request, pageSize: 7 });
    expect(plain).toHaveLength(200);
    expect(paged.map(({ dn }) => dn).sort()).toEqual(plain.map(({ dn }) => dn).sort());
  });

  test('more entries than the size limit fail with code 4', async () => {
    const error = await failure(connection.search({ base, filter: '(uid=user1*)', sizeLimit: 2 }));
    expect(error.code).toBe(resultCode.sizeLimitExceeded);
    expect(connection.alive).toBe(true);
  });

  test('a missing base fails with code 32 and the name that exists', async () => {
    const error = await failure(connection.search({ base: `ou=nowhere,${base}` }));
    expect(error).toMatchObject({ code: resultCode.noSuchObject, matchedDn: base });
    expect(error.message).toBe('LDAP Result Code 32 "No Such Object": ');
  });

  test('aliases are followed only where asked', async () => {
    const alias = `cn=everyone,ou=groups,${base}`;
    const found = async (derefAliases: 'never' | 'searching' | 'finding' | 'always'): Promise<string[]> =>
      (await connection.search({ base: alias, scope: 'base', attributes: ['1.1'], derefAliases })).map(({ dn }) => dn);
    expect(await found('never')).toEqual([alias]);
    expect(await found('searching')).toEqual([alias]);
    expect(await found('finding')).toEqual([`cn=eng,ou=groups,${base}`]);
    expect(await found('always')).toEqual([`cn=eng,ou=groups,${base}`]);
    const below = await connection.search({ base: `ou=groups,${base}`, scope: 'one', attributes: ['1.1'], derefAliases: 'searching' });
    expect([...new Set(below.map(({ dn }) => dn))].sort()).toEqual([`cn=eng,ou=groups,${base}`, `cn=ops,ou=groups,${base}`]);
  });

  test('entries are added, changed, renamed, moved and deleted', async () => {
    const dn = `cn=temp,ou=svc,${base}`;
    await connection.add(dn, [
      { attribute: 'objectClass', values: ['inetOrgPerson'] },
      { attribute: 'sn', values: ['Müller'] },
      { attribute: 'userPassword', values: ['first'] },
    ]);
    const again = connection.add(dn, [
      { attribute: 'objectClass', values: ['inetOrgPerson'] },
      { attribute: 'sn', values: ['x'] },
    ]);
    expect((await failure(again)).code).toBe(resultCode.entryAlreadyExists);
    await connection.modify(dn, [
      { operation: 'replace', attribute: 'userPassword', values: ['second'] },
      { operation: 'add', attribute: 'mail', values: ['a@x', 'b@x'] },
      { operation: 'delete', attribute: 'mail', values: ['a@x'] },
    ]);
    await directory.verifyUser(dn, 'second');
    await connection.modifyDn(dn, { newRdn: 'cn=moved', deleteOldRdn: false, newSuperior: `ou=people,${base}` });
    const moved = `cn=moved,ou=people,${base}`;
    const [entry] = await connection.search({ base: moved, scope: 'base' });
    expect(entry?.values('cn').sort()).toEqual(['moved', 'temp']);
    expect(entry?.values('mail')).toEqual(['b@x']);
    expect(entry?.values('sn')).toEqual(['Müller']);
    await connection.delete(moved);
    expect((await failure(connection.delete(moved))).code).toBe(resultCode.noSuchObject);
  });

  test('binary values come back byte for byte, at every length that changes the encoding', async () => {
    const dn = `cn=photo,ou=svc,${base}`;
    for (const size of [1, 127, 128, 255, 256, 8_190, 65_500, 65_535, 65_536, 70_000, 300_000]) {
      const photo = Buffer.alloc(size, 0xff);
      for (let index = 0; index < size; index += 3) photo[index] = index & 0xff;
      await connection.add(dn, [
        { attribute: 'objectClass', values: ['inetOrgPerson'] },
        { attribute: 'sn', values: ['x'] },
        { attribute: 'jpegPhoto', values: [photo] },
      ]);
      const [entry] = await connection.search({ base: dn, scope: 'base', attributes: ['jpegPhoto'] });
      expect(entry?.buffers('jpegPhoto')[0]?.equals(photo)).toBe(true);
      await connection.delete(dn);
    }
  });

  test('LDIF records are carried out one by one', async () => {
    const records = parseLdif(`dn: cn=ldif,ou=svc,${base}
objectClass: inetOrgPerson
cn: ldif
sn:: TcO8bGxlcg==
userPassword: one

dn: cn=ldif,ou=svc,${base}
changetype: modify
replace: userPassword
userPassword: two
-
add: description
description: folded
 line
-

dn: cn=ldif,ou=svc,${base}
changetype: modrdn
newrdn: cn=ldif2
deleteoldrdn: 1
`);
    for (const record of records) await applyLdif(connection, record);
    await directory.verifyUser(`cn=ldif2,ou=svc,${base}`, 'two');
    const [entry] = await connection.search({ base: `cn=ldif2,ou=svc,${base}`, scope: 'base' });
    expect(entry?.values('cn')).toEqual(['ldif2']);
    expect(entry?.first('sn')).toBe('Müller');
    expect(entry?.first('description')).toBe('foldedline');
    const [deletion] = parseLdif(`dn: cn=ldif2,ou=svc,${base}\nchangetype: delete`);
    await applyLdif(connection, deletion!);
    expect(await connection.search({ base, filter: '(cn=ldif2)' })).toEqual([]);
  });

  test('what cannot be put into a request fails as INVALID and spares the connection', async () => {
    expect(await failure(connection.search({ base, filter: '(uid=a' }))).toMatchObject({ code: 'INVALID', outcomeUnknown: false });
    expect(await failure(connection.search({ base, attributes: ['no such name'] }))).toMatchObject({ code: 'INVALID' });
    expect((await failure(connection.search({ base: 'nonsense' }))).code).toBe(resultCode.invalidDnSyntax);
    expect(connection.alive).toBe(true);
  });

  test('referrals and references lead nowhere: no other server is asked', async () => {
    const elsewhere = await startTcpProxy(slapd.port);
    const dn = `ou=away,${base}`;
    const ref = `ldap://127.0.0.1:${elsewhere.port}/ou=people,${base}`;
    try {
      await connection.add(dn, [
        { attribute: 'objectClass', values: ['referral', 'extensibleObject'] },
        { attribute: 'ou', values: ['away'] },
        { attribute: 'ref', values: [ref] },
      ]);
      const found = await connection.search({ base, filter: '(uid=user7)', attributes: ['uid'] });
      expect(found.map((entry) => entry.dn)).toEqual([`uid=user7,ou=people,${base}`]);
      expect(await failure(connection.search({ base: dn }))).toMatchObject({ code: 10 });
      expect(connection.alive).toBe(true);
      expect(elsewhere.accepted).toBe(0);
    } finally {
      await elsewhere.stop();
    }
  });

  test('a server that wants no anonymous access is still reached', async () => {
    const strict = await startSlapd({ globalConfig: 'disallow bind_anon\nrequire authc' });
    const own = createDirectory({ urls: [strict.url] });
    try {
      const lent = await own.verifyUser(`uid=user1,ou=people,${base}`, 'pw1', async (connection) => connection);
      // The anonymous bind that follows is refused, and leaves nobody bound: what the user might search is refused from now on.
      const search = async () => lent.search({ base, filter: '(uid=user3)' });
      while (lent.boundAs === undefined) await new Promise((resolve) => setImmediate(resolve));
      expect([lent.alive, lent.boundAs]).toEqual([true, '']);
      await expect(search()).rejects.toMatchObject({ code: 53 });
      await own.verifyUser(`uid=user2,ou=people,${base}`, 'pw2', async (connection) => {
        expect(connection).toBe(lent);
        expect(await search()).toHaveLength(1);
      });
      const binding = { dn: `uid=svc1,ou=svc,${base}`, password: 'pw1' };
      expect(await own.withServiceConnection(binding, (lent) => lent.search({ base, filter: '(uid=user3)' }))).toHaveLength(1);
    } finally {
      own.close();
      await strict.stop();
    }
  });
});
