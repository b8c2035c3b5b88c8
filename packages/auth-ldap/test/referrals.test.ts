import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import {
  describeWithSlapd,
  freePorts,
  peopleBelow,
  referralEntry,
  startSlapd,
  startTcpProxy,
  type Slapd,
  type TcpProxy,
} from '@strongroom/lab';
import { mounted, people, serviceConfig, type MountedLdap } from './mounted.ts';

const root = 'dc=example,dc=org';
const broken = `ou=broken,${root}`;

/** Passes connections on to a port, and keeps what clients have sent. */
async function startTap(target: number) {
  const chunks: Buffer[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1');
    for (const socket of [near, far]) sockets.add(socket.on('error', () => undefined));
    near.on('data', (chunk) => void chunks.push(chunk));
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    sent: () => Buffer.concat(chunks).toString('latin1'),
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describeWithSlapd('logins of users to whom a referral leads', () => {
  let second: Slapd;
  let first: Slapd;
  let dead: number;
  /** In front of the second server: what referrals lead to. */
  let door: TcpProxy;
  let mount: MountedLdap;

  beforeAll(async () => {
    [dead] = (await freePorts(1)) as [number];
    const group = `dn: cn=far,ou=groups,${root}\nobjectClass: groupOfNames\ncn: far\nmember: uid=ann,ou=away,${root}\n`;
    second = await startSlapd({
      ldif: peopleBelow('away', root, { ann: 'annpw', user7: 'another' }),
    });
    door = await startTcpProxy(second.port);
    const to = (name: string): string => `ldap://127.0.0.1:${door.port}/${name}`;
    first = await startSlapd({
      ldif: [
        group,
        referralEntry('ou=away', people, [to(`ou=away,${root}`)]),
        peopleBelow('broken', root, {}),
        referralEntry('ou=down', broken, [`ldap://127.0.0.1:${dead}/ou=away,${root}`]),
      ].join('\n'),
    });
  });
  afterAll(async () => {
    await Promise.all([first?.stop(), second?.stop(), door?.stop()]);
  });
  beforeEach(async () => {
    mount = await mounted();
    await mount.write('config', { ...serviceConfig(first), referral_hosts: `127.0.0.1:${door.port}` });
    await mount.write('groups/far', { policies: 'farpol' });
  });
  afterEach(() => mount.close());

  const server = (): string => `ldap://127.0.0.1:${door.port}`;

  test('a login finds the user there, binds there, and has the groups of the first server; a renewal finds the user again', async () => {
    const login = await mount.login('ann', { password: 'annpw' });
    expect({ status: login.status, policies: login.auth?.policies }).toEqual({ status: 200, policies: ['default', 'farpol'] });
    expect(await mount.login('ann', { password: 'wrong' })).toMatchObject({
      status: 400,
      errors: ['ldap operation failed: failed to bind as user'],
    });
    expect((await mount.renew(login.auth!.client_token)).status).toBe(200);
    expect((await mount.login('user1', { password: 'pw1' })).status).toBe(200);
  });

  test('discoverdn finds the user there without a service account', async () => {
    await mount.write('config', { binddn: '', bindpass: '', discoverdn: true, groupdn: '' });
    expect((await mount.login('ann', { password: 'annpw' })).status).toBe(200);
  });

  test('a name that two servers have is nobody, as on one server', async () => {
    for (const password of ['pw7', 'another']) expect((await mount.login('user7', { password })).status).toBe(400);
    await mount.write('config', { referral_hosts: '' });
    expect((await mount.login('user7', { password: 'pw7' })).status).toBe(200);
  });

  test('config/test shows the server where the user was found and bound', async () => {
    const report = (await mount.write('config/test', { username: 'ann', password: 'annpw' })).data as {
      ok: boolean;
      steps: { step: string; url?: string }[];
    };
    const urlOf = (name: string): string | undefined => report.steps.find(({ step }) => step === name)?.url;
    expect(report.ok).toBe(true);
    expect([urlOf('connect'), urlOf('user search'), urlOf('user bind')]).toEqual([first.url, server(), server()]);
  });

  test('config/rotate-root on a replica changes the password at the server that takes changes, and proves it there', async () => {
    const reader = `cn=reader,${root}`;
    const ldif = `dn: ${reader}\nobjectClass: person\ncn: reader\nsn: reader\nuserPassword: first-password\n`;
    const config = 'access to * by self write by anonymous auth by users read';
    const master = await startSlapd({ ldif, config });
    const sync = `syncrepl rid=1 provider=${master.url} searchbase="${root}" type=refreshOnly bindmethod=simple retry="3600 +"`;
    const replica = await startSlapd({ ldif, config: `${config}\n${sync}\nupdateref ${master.url}` });
    try {
      const service = { binddn: reader, bindpass: 'first-password', userattr: 'uid', userdn: people };
      await mount.write('config', { ...service, url: replica.url, referral_hosts: `127.0.0.1:${master.port}` });
      expect((await mount.write('config/rotate-root', {})).status).toBe(204);
      const report = async (url: string) => (await mount.write('config/test', { ...service, url })).data as { ok: boolean };
      expect([await report(master.url), await report(replica.url)]).toMatchObject([{ ok: false }, { ok: true }]);
      expect((await mount.login('user1', { password: 'pw1' })).status).toBe(200);
    } finally {
      await Promise.all([master.stop(), replica.stop()]);
    }
  });

  test('without the host in referral_hosts nobody is found there, and the host is not asked', async () => {
    for (const referral_hosts of ['', '127.0.0.1', `localhost:${door.port}`]) {
      await mount.write('config', { referral_hosts, bindpass: first.adminPassword });
      const before = door.accepted;
      expect((await mount.login('ann', { password: 'annpw' })).status).toBe(400);
      expect((await mount.login('user1', { password: 'pw1' })).status).toBe(200);
      expect(door.accepted).toBe(before);
    }
    await mount.write('config', { referral_hosts: `127.0.0.1:${door.port}`, bindpass: first.adminPassword });
    const before = door.accepted;
    expect((await mount.login('ann', { password: 'annpw' })).status).toBe(200);
    expect(door.accepted).toBeGreaterThan(before);
  });

  test('a listed host that is down is a 5xx that names it, without any password', async () => {
    await mount.write('config', { userdn: broken, referral_hosts: `127.0.0.1:${dead}`, bindpass: first.adminPassword });
    const { status, errors } = await mount.login('ann', { password: 'annpw' });
    expect({ status, text: errors?.join() }).toEqual({
      status: 500,
      text: expect.stringContaining(`ldap operation failed: the referral to ldap://127.0.0.1:${dead} could not be followed`),
    });
    expect(JSON.stringify(mount.lines)).not.toMatch(/annpw|adminpw/);
  });

  test('the password is sent to the server where the entry is, and to no other', async () => {
    const tap = await startTap(first.port);
    try {
      await mount.write('config', { url: `ldap://127.0.0.1:${tap.port}`, bindpass: first.adminPassword });
      expect((await mount.login('ann', { password: 'annpw' })).status).toBe(200);
      expect((await mount.login('user1', { password: 'pw1' })).status).toBe(200);
      expect(tap.sent()).toContain(first.adminPassword);
      expect(tap.sent()).toContain('pw1');
      expect(tap.sent()).not.toContain('annpw');
    } finally {
      await tap.stop();
    }
  });

  test.each([
    ['ldap://dc2.corp.example', 'write dc2.corp.example'],
    ['dc2.corp.example:70000', 'is not a host'],
    ['dc2 corp', 'is not a host'],
    ['::1', 'is not a host'],
    ['reader:secret@dc2', 'a host holds no name or password'],
  ])('referral_hosts of %j is refused, with what would be right', async (referral_hosts, text) => {
    const { status, errors } = await mount.call('update', `${mount.path}/config`, { data: { referral_hosts } });
    expect({ status, text: errors?.join() }).toEqual({ status: 400, text: expect.stringContaining(text) });
    expect(errors?.join()).toMatch(/^referral_hosts: /);
    expect(errors?.join()).not.toContain('secret');
  });

  test('referral_hosts reads back in lower case, without spaces; empty takes it away', async () => {
    await mount.write('config', { referral_hosts: ' DC2.corp.example , dc3:1636,dc3:1636,[::1]', bindpass: first.adminPassword });
    expect((await mount.read('config')).data).toMatchObject({ referral_hosts: 'dc2.corp.example,dc3:1636,[::1]' });
    await mount.write('config', { referral_hosts: '' });
    expect((await mount.read('config')).data).not.toHaveProperty('referral_hosts');
  });
});
