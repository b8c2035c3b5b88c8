import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeWhere, motoMissing, startMoto, type MotoServer } from '@strongroom/lab';
import { ConsoleBrowser, noChromium, type Tab } from './console-browser.ts';
import { ConsoleServer } from './console-server.ts';

describeWhere(noChromium ?? motoMissing, 'copies that a rule brought', () => {
  let moto: MotoServer;
  let server: ConsoleServer;
  let browser: ConsoleBrowser;
  let tab: Tab;

  beforeAll(async () => {
    [moto, server, browser] = await Promise.all([startMoto(), ConsoleServer.start(), ConsoleBrowser.start()]);
    for (const name of ['team/api', 'team/mail']) await server.set('POST', `secret/data/${name}`, { data: { key: 'of-the-rules-test' } });
    await server.set('POST', 'sys/sync/destinations/aws-sm/prod', {
      access_key_id: 'AKIAOPERATOR',
      secret_access_key: 'none',
      region: 'us-east-1',
      endpoint: moto.endpoint,
      sts_endpoint: moto.endpoint,
      allowed_ipv4_addresses: '127.0.0.1/32',
      allowed_ports: [Number(new URL(moto.endpoint).port)],
    });
    const link = async (secret_name: string) =>
      server.set('POST', 'sys/sync/destinations/aws-sm/prod/associations/set', { mount: 'secret', secret_name });
    await link('team/*');
    await link('team/api');
    tab = await browser.tab(server.origin);
  }, 120_000);

  afterAll(async () => {
    await browser?.stop();
    await server?.stop();
    await moto?.stop();
  });

  test('are unlinked by their rule alone, unless somebody linked them as well', async () => {
    await tab.login(server.rootToken, '/sync/aws-sm/prod');
    const row = (name: string) => tab.page.getByRole('row').filter({ hasText: `secret/${name}` });
    const unlink = (name: string) => row(name).getByRole('button', { name: `Unlink ${name}` });
    await row('team/mail').getByText('Its rule links it: exclude it there, or remove the rule.').waitFor();
    expect(await unlink('team/mail').count()).toBe(0);
    await unlink('team/api').waitFor();
  });
});
