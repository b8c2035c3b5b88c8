import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { adGroup, adUser, describeWithSamba, type SambaServer, startSamba, startTcpProxy } from '@strongroom/lab';
import { createDirectory, type LdapError } from '../src/index.ts';
import type { Connection, Directory, LdapSettings } from '../src/index.ts';

// A domain controller in one process takes its time on a busy machine.
jest.setTimeout(60_000);

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

describeWithSamba('Active Directory, emulated by Samba', () => {
  let samba: SambaServer;
  const many = Array.from({ length: 1_200 }, (_, i) => `contact ${i}`);

  beforeAll(async () => {
    const contacts = many.map((name) => `dn: CN=${name},CN=Users,DC=corp,DC=example\nobjectClass: contact\n\n`).join('');
    samba = await startSamba({ ldif: adUser('ann', { password: 'pw-ann' }) + contacts + adGroup('big', many) });
  });
  afterAll(() => samba?.stop());

  function open(settings: Partial<LdapSettings> = {}): Directory {
    const directory = createDirectory({ urls: [samba.ldapsUrl], certificate: samba.ca.certificate, ...settings });
    cleanups.push(() => directory.close());
    return directory;
  }
  const asAdmin = <T>(work: (connection: Connection) => Promise<T>): Promise<T> =>
    open().withServiceConnection({ dn: samba.adminDn, password: samba.adminPassword }, work);
  const failure = async (work: Promise<unknown>): Promise<LdapError> =>
    work.then(
      () => {
        throw new Error('it succeeded');
      },
      (error: unknown) => error as LdapError,
    );

  test('ldaps and StartTLS with the CA reach it; without the CA, or by another name, they do not', async () => {
    for (const urls of [[samba.ldapsUrl], [samba.url]]) {
      const directory = open({ urls, starttls: true });
      await directory.verifyUser('ann@corp.example', 'pw-ann');
      const connection = await directory.connect();
      expect(connection.established.tls).toMatchObject({ protocol: 'TLSv1.2' });
      connection.close();
      expect((await failure(open({ urls, starttls: true, certificate: '' }).connect())).code).toBe('TLS');
      const elsewhere = urls.map((url) => url.replace(samba.host, 'localhost'));
      expect((await failure(open({ urls: elsewhere, starttls: true }).connect())).code).toBe('NETWORK');
    }
    const plain = await open({ urls: [samba.url] }).connect();
    expect(plain.established.tls).toBeUndefined();
  });

  test('a principal name, a name with its domain and the name of the entry all bind', async () => {
    const directory = open();
    for (const name of ['ann@corp.example', 'CORP\\ann', `CN=ann,${samba.usersDn}`]) await directory.verifyUser(name, 'pw-ann');
    expect(await failure(directory.verifyUser('ann@corp.example', 'wrong'))).toMatchObject({
      code: 49,
      diagnosticMessage: expect.stringContaining('data 52e'),
    });
  });

  test('references to other parts of the forest are passed over', async () => {
    const found = await asAdmin((connection) =>
      connection.search({ base: samba.baseDn, filter: '(sAMAccountName=ann)', attributes: ['cn'] }),
    );
    expect(found.map(({ dn }) => dn)).toEqual([`CN=ann,${samba.usersDn}`]);
  });

  test('pages of 1,000, and of less, give every entry once', async () => {
    for (const pageSize of [1_000, 333]) {
      const found = await asAdmin((connection) =>
        connection.search({ base: samba.usersDn, filter: '(objectClass=contact)', attributes: ['cn'], pageSize }),
      );
      expect(found.map((entry) => entry.first('cn')).sort()).toEqual([...many].sort());
    }
  });

  test('a range of values is shown in the form that pieces have', async () => {
    const [entry] = await asAdmin((connection) =>
      connection.search({ base: `CN=big,${samba.usersDn}`, scope: 'base', attributes: ['member;range=1000-*'] }),
    );
    expect(entry!.values('member;range=1000-*')).toHaveLength(200);
  });

  test('an entry is found by its objectGUID and its objectSid, whose bytes come unchanged', async () => {
    await asAdmin(async (connection) => {
      const base = `CN=ann,${samba.usersDn}`;
      const [entry] = await connection.search({ base, scope: 'base', attributes: ['objectGUID', 'objectSid'] });
      const guid = entry!.buffers('objectGUID')[0]!;
      expect([guid.length, entry!.buffers('objectSid')[0]!.length]).toEqual([16, 28]);
      const [again] = await connection.search({ base: `<GUID=${guid.toString('hex')}>`, scope: 'base', attributes: ['cn'] });
      expect(again?.dn).toBe(base);
    });
  });

  test('a connection that is cut between two logins costs neither of them', async () => {
    const proxy = await startTcpProxy(636, samba.host);
    cleanups.push(() => proxy.stop());
    const directory = open({ urls: [`ldaps://127.0.0.1:${proxy.port}`], insecureTls: true });
    await directory.verifyUser('CORP\\ann', 'pw-ann');
    proxy.cut();
    await directory.verifyUser('CORP\\ann', 'pw-ann');
    expect(proxy.accepted).toBe(2);
  });
});
