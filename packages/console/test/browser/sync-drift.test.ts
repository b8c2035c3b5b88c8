import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeWhere, motoMissing, startMoto, type MotoServer } from '@strongroom/lab';
import { ConsoleBrowser, noChromium, type Tab } from './console-browser.ts';
import { ConsoleServer } from './console-server.ts';
import { look } from './look.ts';

const PLANTED = 'planted-value-of-the-drift-test';

/** See the drift of copies, and put it right. */
describeWhere(noChromium ?? motoMissing, 'the drift of copies', () => {
  let moto: MotoServer;
  let server: ConsoleServer;
  let browser: ConsoleBrowser;
  let tab: Tab;

  beforeAll(async () => {
    [moto, server, browser] = await Promise.all([startMoto(), ConsoleServer.start(), ConsoleBrowser.start()]);
    for (const name of ['shop/api', 'shop/mail', 'shop/pay']) await server.set('POST', `secret/data/${name}`, { data: { key: PLANTED } });
    await server.set('POST', 'sys/sync/destinations/aws-sm/prod', {
      access_key_id: 'AKIAOPERATOR',
      secret_access_key: 'none',
      region: 'us-east-1',
      endpoint: moto.endpoint,
      sts_endpoint: moto.endpoint,
      secret_name_template: 'copies/{{ .SecretPath }}',
      allowed_ipv4_addresses: '127.0.0.1/32',
      allowed_ports: [Number(new URL(moto.endpoint).port)],
    });
    tab = await browser.tab(server.origin);
  }, 120_000);

  afterAll(async () => {
    await browser?.stop();
    await server?.stop();
    await moto?.stop();
  });

  /** A call of Secrets Manager, as somebody else makes it. */
  const outside = async (action: string, body: Readonly<Record<string, unknown>>): Promise<Record<string, unknown>> => {
    const response = await fetch(moto.endpoint, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/x-amz-json-1.1',
        'X-Amz-Target': `secretsmanager.${action}`,
        Authorization:
          'AWS4-HMAC-SHA256 Credential=AKIASOMEBODY/20260101/us-east-1/secretsmanager/aws4_request, SignedHeaders=host, Signature=none',
      },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${action}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Record<string, unknown>;
  };
  const valueOf = async (id: string): Promise<unknown> => (await outside('GetSecretValue', { SecretId: id })).SecretString;
  const line = (name: string) => tab.page.getByRole('region', { name: 'Differences' }).getByRole('listitem').filter({ hasText: name });

  test('many secrets are linked by a pattern, after a look at their names outside', async () => {
    await tab.login(server.rootToken, '/sync/aws-sm/prod/link');
    await tab.page.getByLabel('Mount').selectOption('secret');
    await tab.page.getByLabel(/^Secrets \(/).fill('shop/*');
    await tab.page.getByRole('button', { name: 'Show the names outside' }).click();
    await tab.page.getByRole('row', { name: /shop\/api copies\/shop\/api new/ }).waitFor();
    expect((await server.set('GET', 'sys/sync/destinations/aws-sm/prod/associations')).data.associated_secrets).toEqual({});
    await look(tab, 'sync-link');
    await tab.page.getByRole('button', { name: 'Link 3' }).click();
    await tab.page.getByText('3 linked.').waitFor();
    await tab.open('/sync/aws-sm/prod');
    for (const name of ['api', 'mail', 'pay']) await tab.page.getByRole('row', { name: new RegExp(`shop/${name} synced`) }).waitFor();
    expect(tab.faults).toEqual([]);
  });

  test('a folder is linked with what comes later, and its rule is removed again', async () => {
    const copies = 'sys/sync/destinations/aws-sm/prod/associations';
    await server.set('POST', 'secret/data/team/first', { data: { key: PLANTED } });
    await tab.open('/sync/aws-sm/prod/link');
    await tab.page.getByLabel('Mount').selectOption('secret');
    await tab.page.getByLabel(/^Secrets \(/).fill('team/**');
    await tab.page.getByRole('button', { name: 'Show the names outside' }).click();
    await tab.page.getByRole('button', { name: 'Link all, and those that come later' }).click();
    await tab.page.getByText('The rule team/* links secrets that come later as well.').waitFor();
    await server.set('POST', 'secret/data/team/second', { data: { key: PLANTED } });
    await tab.open('/sync/aws-sm/prod');
    await tab.page.getByRole('row', { name: /team\/second by the rule team\/\* synced/ }).waitFor();
    await look(tab, 'sync-rules');
    await tab.page.getByRole('button', { name: 'Remove the rule team/*' }).click();
    await tab.page.getByRole('dialog').getByRole('button', { name: 'Remove the rule team/*' }).click();
    await tab.page.getByRole('row', { name: /team\/second/ }).waitFor({ state: 'detached' });
    const left = (await server.set('GET', copies)).data.associated_secrets as object;
    expect(Object.values(left).map(({ secret_name }: { secret_name: string }) => secret_name)).not.toContain('team/first');
    expect(tab.faults).toEqual([]);
  });

  test('a copy that was edited outside, and one that was deleted, are lines of the plan', async () => {
    await outside('PutSecretValue', { SecretId: 'copies/shop/api', SecretString: '{"key":"edited by hand"}' });
    await outside('DeleteSecret', { SecretId: 'copies/shop/mail', ForceDeleteWithoutRecovery: true });
    await tab.open('/sync/aws-sm/prod/plan');
    await tab.page.getByText('1 in sync · 2 differ').waitFor();
    expect(await line('copies/shop/api').innerText()).toMatch(/edited outside[\s\S]*will be written/);
    expect(await line('copies/shop/mail').innerText()).toMatch(/missing outside[\s\S]*will be written/);
    await look(tab, 'sync-plan');
    expect(await tab.places(PLANTED)).toEqual([]);
    expect(await tab.places('edited by hand')).toEqual([]);
  });

  test('the list is the confirmation, and afterwards nothing differs', async () => {
    await tab.page.getByRole('button', { name: 'Reconcile 2' }).click();
    await tab.page.getByText('These 2 are changed outside').waitFor();
    expect(await valueOf('copies/shop/api')).toContain('edited by hand');
    await look(tab, 'sync-plan-confirm');
    await tab.page.getByRole('button', { name: 'Change these 2' }).click();
    await tab.page.getByText('Reconciled: nothing is left to write.').waitFor();
    await tab.page.getByText('3 in sync · 0 differ').waitFor();
    expect(JSON.parse(String(await valueOf('copies/shop/api')))).toEqual({ key: PLANTED });
    expect(JSON.parse(String(await valueOf('copies/shop/mail')))).toEqual({ key: PLANTED });
    expect(tab.faults).toEqual([]);
  });

  test('everything is held and let go on, and every page of sync says so', async () => {
    await tab.open('/sync');
    await tab.page.getByRole('button', { name: 'Hold everything' }).click();
    await tab.page.getByRole('dialog').getByRole('button', { name: 'Hold everything' }).click();
    await tab.page.getByText('Everything is held').waitFor();
    expect((await server.set('GET', 'sys/sync/config')).data).toMatchObject({ disabled: true });
    await tab.open('/sync/aws-sm/prod/plan');
    await tab.page.getByRole('button', { name: 'Go on' }).click();
    await tab.page.getByRole('dialog').getByRole('button', { name: 'Go on' }).click();
    await tab.page.getByText('Everything is held').waitFor({ state: 'detached' });
    expect((await server.set('GET', 'sys/sync/config')).data).toMatchObject({ disabled: false });
  });

  test('a token that may look but not reconcile learns which right is missing', async () => {
    const token = await server.tokenWith('looks', 'path "sys/sync/*" { capabilities = ["read", "list"] }');
    await outside('PutSecretValue', { SecretId: 'copies/shop/pay', SecretString: '{}' });
    const auditor = await browser.tab(server.origin);
    await auditor.login(token, '/sync/aws-sm/prod/plan');
    const refused = auditor.page.getByRole('button', {
      name: /not allowed, missing update or create on sys\/sync\/destinations\/aws-sm\/prod\/reconcile/,
    });
    // Until the server has told what the token may do, the button looks as it does for those who may.
    await refused.waitFor();
    expect(await refused.count()).toBe(1);
    await auditor.close();
  });
});
