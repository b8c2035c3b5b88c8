import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  describeWhere,
  rabbitmqMissing,
  startKubernetesApi,
  startRabbitmq,
  type KubernetesApi,
  type RabbitmqServer,
} from '@strongroom/lab';
import { ConsoleBrowser, noChromium, type Tab } from './console-browser.ts';
import { ConsoleServer } from './console-server.ts';
import { look } from './look.ts';

describeWhere(noChromium, 'engines whose pages come from their declarations', () => {
  let server: ConsoleServer;
  let browser: ConsoleBrowser;
  let tab: Tab;

  beforeAll(async () => {
    [server, browser] = await Promise.all([ConsoleServer.start(), ConsoleBrowser.start()]);
    tab = await browser.tab(server.origin);
    await tab.login(server.rootToken);
  }, 120_000);

  afterAll(async () => {
    await browser?.stop();
    await server?.stop();
  });

  /** The page as it is, without a fault for axe. */
  const seen = async (name: string): Promise<void> => {
    await tab.settled();
    await look(tab, name);
    expect({ name, violations: await tab.violations(), faults: tab.faults }).toEqual({ name, violations: [], faults: [] });
  };
  const fill = async (label: RegExp, text: string): Promise<void> => tab.page.getByRole('textbox', { name: label }).fill(text);
  const press = async (name: string): Promise<void> => tab.page.getByRole('button', { name, exact: true }).click();
  const follow = async (name: string): Promise<void> => tab.page.getByRole('link', { name, exact: true }).click();
  const fact = async (label: string): Promise<string> => {
    const row = tab.page.locator('dl > div').filter({ has: tab.page.getByRole('term').filter({ hasText: new RegExp(`^${label}$`) }) });
    return row.getByRole('definition').first().innerText();
  };

  const enable = async (type: string): Promise<void> => {
    await tab.open('/mounts/enable/secret');
    await tab.page.getByRole('combobox', { name: 'What' }).selectOption(type);
    await press('Enable');
    await follow('What it offers');
  };
  const create = async (list: string, name: string): Promise<void> => {
    await follow(list);
    await fill(/^Name of a new one/, name);
    await press('Create…');
  };
  const remove = async (label: string, typed: string): Promise<void> => {
    await press(`Delete ${label}`);
    await fill(/^Type/, typed);
    await tab.page
      .getByRole('dialog')
      .getByRole('button', { name: `Delete ${label}` })
      .click();
    await tab.page.getByRole('heading', { level: 1, name: label.split('/')[0]! }).waitFor();
  };

  test('TOTP: a new key is shown once, its QR code as a picture, and makes and checks codes', async () => {
    const { page } = tab;
    await enable('totp');
    await create('keys', 'ada');
    await page.getByRole('combobox', { name: /^Generate/ }).selectOption('true');
    await fill(/^Issuer/, 'Acme');
    await fill(/^Account name/, 'ada');
    await press('Save');
    await page.getByRole('heading', { name: 'Shown once' }).waitFor();
    expect(await tab.places('otpauth://totp/Acme')).toEqual([]);
    await page.getByRole('img', { name: 'barcode, hidden' }).waitFor();
    await press('Show barcode');
    const picture = page.getByRole('img', { name: 'barcode', exact: true });
    await page.waitForFunction(() => document.querySelector('canvas')?.width === 200);
    const colours = await picture.evaluate((canvas: HTMLCanvasElement) => {
      const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
      return [...new Set(data.filter((_, at) => at % 4 === 0))].sort((a, b) => a - b);
    });
    expect(colours).toEqual([0, 255]);
    await seen('totp-key');
    await press('Dismiss');
    await press('Dismiss it');
    await page.getByText('It is on this page no longer.').waitFor();

    await follow('Codes of a key');
    await press('Show code');
    const code = await fact('Code');
    expect(code).toMatch(/^\d{6}$/);
    await fill(/^Code/, code);
    await press('Do it');
    await page.getByRole('status').filter({ hasText: 'Valid' }).waitFor();
    await seen('totp-code');
    await tab.open('/engine/totp/keys/ada');
    await remove('keys/ada', 'ada');
  }, 120_000);

  test('transit: a key encrypts, decrypts, signs and verifies, and ends when that is allowed', async () => {
    const { page } = tab;
    await enable('transit');
    await create('keys', 'app');
    await press('Save');
    await follow('Encrypts data, or a batch of them');
    await fill(/^Plaintext/, 'd2FpdCBoZXJl');
    await press('Do it');
    await page.getByText('Done', { exact: true }).waitFor();
    const ciphertext = await fact('Ciphertext');
    await seen('transit-encrypted');
    await follow('app');
    await follow('Decrypts data, or a batch of them');
    await fill(/^Ciphertext/, ciphertext);
    await press('Do it');
    await page.getByRole('img', { name: 'plaintext, hidden' }).waitFor();
    expect(await tab.places('d2FpdCBoZXJl')).toEqual([]);
    await press('Show plaintext');
    expect(await fact('Plaintext')).toBe('d2FpdCBoZXJl');

    await server.set('POST', 'transit/keys/seal', { type: 'ed25519' });
    await tab.open('/engine/transit/sign/seal');
    await fill(/^Input/, 'd2FpdCBoZXJl');
    await press('Do it');
    await page.getByText('Done', { exact: true }).waitFor();
    const signature = await fact('Signature');
    await follow('Verifies a signature or an HMAC, or a batch of them');
    await fill(/^Input/, 'd2FpdCBoZXJl');
    await fill(/^Signature$/, signature);
    await press('Do it');
    await page.getByText('Done', { exact: true }).waitFor();
    expect(await fact('Valid')).toBe('yes');

    await tab.open('/engine/transit/keys/app/config');
    await page.getByRole('combobox', { name: /^Deletion allowed/ }).selectOption('true');
    await press('Do it');
    await page.getByText('Done', { exact: true }).waitFor();
    await follow('app');
    await seen('transit-key');
    await remove('keys/app', 'app');
  }, 120_000);

  describe('with an API server of Kubernetes', () => {
    let cluster: KubernetesApi;

    beforeAll(async () => {
      cluster = await startKubernetesApi();
    });

    afterAll(async () => {
      await cluster?.stop();
    });

    test('Kubernetes: a token is issued by a form, shown once or wrapped, and ended; orphans say why they are some', async () => {
      const { page } = tab;
      await enable('kubernetes');
      await follow('config');
      await fill(/^Kubernetes host/, cluster.url);
      await fill(/^Kubernetes CA cert/, cluster.ca);
      await fill(/^Service account JWT/, cluster.manager);
      await press('Save');
      await page.getByText('Saved.').waitFor();
      await follow('Test the configuration');
      await press('Do it');
      await page.getByRole('list', { name: 'Steps' }).getByText('rights').waitFor();
      await seen('kubernetes-test');
      await tab.open('/engine/kubernetes');
      await create('roles', 'pods');
      await fill(/^Allowed Kubernetes namespaces/, 'default\nprod');
      await fill(/^Generated role rules/, 'rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]');
      await press('Save');
      await follow('Creates a credential');
      await fill(/^Kubernetes namespace/, 'default');
      await press('Issue');
      await page.getByRole('heading', { name: 'Shown once' }).waitFor();
      const [account] = cluster.objects.names('ServiceAccount').filter((name) => name.includes('pods'));
      expect(account).toBe(`default/${await fact('service_account_name').then((text) => text.trim())}`);
      await seen('kubernetes-issued');
      await press('End now');
      await page.getByText('It has ended').waitFor();
      expect(cluster.objects.names('ServiceAccount').filter((name) => name.includes('pods'))).toEqual([]);
      await fill(/^Kubernetes namespace/, 'prod');
      await page.getByRole('combobox', { name: 'How it is handed over' }).selectOption('30m');
      await press('Issue');
      await page.getByRole('heading', { name: 'Wrapped' }).waitFor();

      const { uuid } = (await server.set('GET', 'sys/mounts/kubernetes')).data;
      const labels = { 'strongroom.io/mount': uuid, 'strongroom.io/creation': 'left' };
      const left = { kind: 'ServiceAccount', apiVersion: 'v1', metadata: { name: 'left', namespace: 'default', labels } };
      cluster.objects.answer('POST', '/api/v1/namespaces/default/serviceaccounts', JSON.stringify(left));
      await tab.open('/engine/kubernetes/orphans');
      await page.getByText('default/left').first().waitFor();
      await seen('kubernetes-orphans');
      await fill(/^Usernames/, 'default/left');
      await press('Do it');
      await page.getByText('Done', { exact: true }).waitFor();
      expect(cluster.objects.names('ServiceAccount')).not.toContain('default/left');
    }, 120_000);
  });

  describeWhere(rabbitmqMissing, 'with RabbitMQ', () => {
    let broker: RabbitmqServer;

    beforeAll(async () => {
      broker = await startRabbitmq();
    }, 120_000);

    afterAll(async () => {
      await broker?.stop();
    });

    test('RabbitMQ: a role has its virtual hosts, a user is lent and taken back, and a rotation that fails leads to its role', async () => {
      const { page } = tab;
      await enable('rabbitmq');
      await follow('config/connection');
      await fill(/^Connection URI/, broker.url);
      await fill(/^Username$/, broker.username);
      await fill(/^Password$/, broker.password);
      await press('Save');
      await page.getByText('Saved.').waitFor();
      await tab.open('/engine/rabbitmq');
      await create('roles', 'reader');
      await fill(/^Tags/, 'management');
      await fill(/^Virtual hosts/, '{"/":{"read":"^orders$"}}');
      await press('Save');
      await page.getByRole('listitem').filter({ hasText: '^orders$' }).first().waitFor();
      await seen('rabbitmq-role');
      expect(await page.getByRole('link', { name: 'Rotates now' }).count()).toBe(0);
      await follow('Issues a user');
      await press('Issue');
      await page.getByRole('heading', { name: 'Shown once' }).waitFor();
      expect(await broker.users()).toEqual([(await fact('username')).trim()]);
      await press('End now');
      await page.getByText('It has ended').waitFor();
      expect(await broker.users()).toEqual([]);

      await broker.api('PUT', 'users/report', { password: 'before', tags: '' });
      await server.set('POST', 'rabbitmq/static-roles/report', { username: 'report', rotation_period: '24h' });
      await broker.api('DELETE', 'users/report');
      await server.ask('POST', 'rabbitmq/rotate-role/report');
      await tab.open('/engine/rabbitmq/failing');
      await seen('rabbitmq-failing');
      await follow('report');
      await page.getByRole('link', { name: 'Rotates now' }).waitFor();
      await remove('static-roles/report', 'report');
      await tab.open('/engine/rabbitmq/orphans');
      expect(await fact('Usernames')).toBe('none');
      await seen('rabbitmq-orphans');
    }, 120_000);
  });
});
