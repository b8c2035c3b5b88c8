import { afterAll, beforeAll, expect, test } from '@jest/globals';
import ldapjs from 'ldapjs';
import { adGroup, adUser, describeWithSamba, startSamba, type SambaServer } from '../src/index.ts';

/** The text of the server's refusal; undefined when it accepts. */
function bind(url: string, name: string, password: string, ca?: string): Promise<string | undefined> {
  const client = ldapjs.createClient({ url, ...(ca === undefined ? {} : { tlsOptions: { ca } }) });
  return new Promise((resolve, reject) => {
    client.on('connectError', reject).on('error', reject);
    client.bind(name, password, (error) => {
      resolve(error ? `${error.name} ${(error as { lde_message?: string }).lde_message ?? ''}` : undefined);
      client.destroy();
    });
  });
}

describeWithSamba("a domain controller of the test's own", () => {
  let samba: SambaServer;

  beforeAll(async () => {
    samba = await startSamba({ ldif: adUser('ann', { password: 'pw-ann' }) + adUser('out', { password: 'pw-out', disabled: true }) });
  }, 60_000);
  afterAll(() => samba?.stop());

  test('users bind by their three names, over ldaps with the CA of the test too', async () => {
    for (const name of [samba.adminDn, 'CORP\\Administrator', 'Administrator@corp.example'])
      expect(await bind(samba.url, name, samba.adminPassword)).toBeUndefined();
    expect(await bind(samba.ldapsUrl, 'ann@corp.example', 'pw-ann', samba.ca.certificate)).toBeUndefined();
    await expect(bind(samba.ldapsUrl, 'ann@corp.example', 'pw-ann')).rejects.toThrow(/certificate/);
    expect(await bind(samba.url, 'ann@corp.example', 'wrong')).toMatch(/^InvalidCredentialsError/);
  });

  test('it is changed while it runs, and keeps its data when it is killed', async () => {
    expect(await bind(samba.url, 'CORP\\out', 'pw-out')).toMatch(/^InvalidCredentialsError/);
    await samba.apply(
      `dn: CN=out,${samba.usersDn}\nchangetype: modify\nreplace: userAccountControl\nuserAccountControl: 512\n-\n\n${adGroup('eng', ['ann'])}`,
    );
    expect(await bind(samba.url, 'CORP\\out', 'pw-out')).toBeUndefined();
    expect(await samba.tool('group', 'listmembers', 'eng')).toBe('ann\n');
    await samba.restart();
    expect(await bind(samba.url, 'CORP\\out', 'pw-out')).toBeUndefined();
  }, 60_000);

  test('two run side by side', async () => {
    const other = await startSamba();
    try {
      expect(other.host).not.toBe(samba.host);
      expect(await bind(other.url, 'CORP\\ann', 'pw-ann')).toMatch(/^InvalidCredentialsError/);
      expect(await bind(samba.url, 'CORP\\ann', 'pw-ann')).toBeUndefined();
    } finally {
      await other.stop();
    }
    await expect(bind(other.url, 'CORP\\ann', 'pw-ann')).rejects.toThrow(/ECONNREFUSED/);
  }, 60_000);
});
