import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeWhere } from '@strongroom/lab';
import { ConsoleBrowser, noChromium, type Tab } from './console-browser.ts';
import { ConsoleServer } from './console-server.ts';

/** The tests of this file are one story, in their order. */
describeWhere(noChromium, 'the first hour of a server', () => {
  let server: ConsoleServer;
  let browser: ConsoleBrowser;
  let installer: Tab;
  let keyholder: Tab;
  let shares: string[] = [];
  let rootToken = '';

  beforeAll(async () => {
    [server, browser] = await Promise.all([ConsoleServer.start({ uninitialized: true }), ConsoleBrowser.start()]);
    installer = await browser.tab(server.origin);
    keyholder = await browser.tab(server.origin);
  });
  afterAll(async () => {
    expect([...installer.faults, ...keyholder.faults]).toEqual([]);
    await browser?.stop();
    await server?.stop();
  });

  /** What *copy* puts into the clipboard: nothing is drawn for it. */
  const copied = async (tab: Tab, label: string): Promise<string> => {
    await tab.page.getByRole('button', { name: `Copy ${label}`, exact: true }).click();
    return tab.page.evaluate(async () => navigator.clipboard.readText());
  };
  const give = async (tab: Tab, share: string, field = 'Key share'): Promise<void> => {
    await tab.page.getByRole('textbox', { name: field }).fill(share);
    await tab.page.getByRole('button', { name: 'Give the share' }).click();
  };
  const given = async (tab: Tab, text: string): Promise<void> => tab.page.getByRole('status').getByText(text).waitFor();
  const heading = async (tab: Tab, name: string): Promise<void> => tab.page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
  const readShares = async (tab: Tab, count: number): Promise<string[]> => {
    const read: string[] = [];
    for (let at = 1; at <= count; at += 1) read.push(await copied(tab, `unseal share ${at}`));
    return read;
  };

  test('initializes it, and shows the keys once, hidden until they are asked for', async () => {
    await installer.page.goto('/ui/mounts');
    await heading(installer, 'Initialize the server');
    expect(await installer.violations()).toEqual([]);
    await installer.page.getByRole('textbox', { name: 'Shares' }).fill('3');
    await installer.page.getByRole('textbox', { name: 'Needed' }).fill('4');
    await installer.page.getByRole('button', { name: 'Initialize' }).click();
    await installer.page
      .getByRole('alert')
      .getByText(/threshold/i)
      .waitFor();
    await installer.page.getByRole('textbox', { name: 'Needed' }).fill('2');
    await installer.page.getByRole('button', { name: 'Initialize' }).click();
    await heading(installer, 'Store the keys');
    expect(await installer.violations()).toEqual([]);
    shares = await readShares(installer, 3);
    rootToken = await copied(installer, 'root token');
    expect(new Set([...shares, rootToken]).size).toBe(4);
    for (const secret of [...shares, rootToken]) expect(await installer.places(secret)).toEqual([]);
    await installer.page.getByRole('button', { name: 'Show root token' }).click();
    expect(await installer.places(rootToken)).toEqual(['document']);
    await installer.page.getByRole('checkbox').check();
    await installer.page.getByRole('button', { name: 'Go on to unseal' }).click();
    await heading(installer, 'The server is sealed');
    expect(await installer.places(rootToken)).toEqual([]);
  });

  test('is unsealed by two people, each at their own browser, who see the same attempt', async () => {
    await keyholder.page.goto('/ui/');
    await heading(keyholder, 'The server is sealed');
    await given(keyholder, '0 of 2 shares given');
    expect(await keyholder.violations()).toEqual([]);
    await give(installer, 'not a share');
    await installer.page.getByRole('alert', { name: 'The server refused this' }).waitFor();
    await give(installer, shares[0]!);
    await given(installer, '1 of 2 shares given');
    await given(keyholder, '1 of 2 shares given');
    const attempt = async (tab: Tab): Promise<string> => tab.page.locator('p code').innerText();
    expect(await attempt(keyholder)).toBe(await attempt(installer));
    expect(await installer.places(shares[0]!)).toEqual([]);
    await give(keyholder, shares[2]!);
    await heading(keyholder, 'Log in');
    await heading(installer, 'Log in');
    expect(await keyholder.places(shares[2]!)).toEqual([]);
  });

  test('is used with its root token', async () => {
    await installer.page.getByRole('textbox', { name: 'Token' }).fill(rootToken);
    await installer.page.getByRole('button', { name: 'Log in', exact: true }).click();
    await heading(installer, 'Mounts');
  });

  test('gets a new encryption key', async () => {
    await installer.open('/server/keys');
    const term = async (value: string): Promise<void> =>
      installer.page.getByRole('region', { name: 'Encryption key' }).getByText(value, { exact: true }).waitFor();
    await term('1');
    await installer.page.getByRole('button', { name: 'Rotate the key' }).click();
    await installer.page.getByRole('dialog').getByRole('button', { name: 'Rotate the key' }).click();
    await term('2');
  });

  test('gets new shares from the present ones, which count when they were verified', async () => {
    const part = installer.page.getByRole('region', { name: 'New unseal shares' });
    await part.getByRole('textbox', { name: 'Shares' }).fill('2');
    await part.getByRole('button', { name: 'Make new shares' }).click();
    await give(installer, shares[0]!, 'Present share');
    await given(installer, '1 of 2 shares given');
    await give(installer, shares[1]!, 'Present share');
    const made = await readShares(installer, 2);
    await part.getByRole('checkbox').check();
    await installer.page.getByRole('button', { name: 'Done' }).click();
    for (const share of made) await give(installer, share, 'New share');
    await part.getByRole('button', { name: 'Make new shares' }).waitFor();
    shares = made;
  });

  test('gives a new root token to who has enough shares', async () => {
    const part = installer.page.getByRole('region', { name: 'New root token' });
    await part.getByRole('button', { name: 'Begin' }).click();
    for (const share of shares) await give(installer, share);
    const token = await copied(installer, 'root token');
    expect((await server.ask('GET', 'auth/token/lookup-self', undefined, token)).data['policies']).toEqual(['root']);
    await part.getByRole('checkbox').check();
    await installer.page.getByRole('button', { name: 'Done' }).click();
    await part.getByRole('button', { name: 'Begin' }).waitFor();
    expect(await installer.places(token)).toEqual([]);
  });

  test('is sealed, and the page comes back when it is unsealed', async () => {
    await installer.open('/server/seal');
    await installer.page.getByRole('button', { name: 'Seal the server' }).click();
    const dialog = installer.page.getByRole('dialog');
    await dialog.getByRole('textbox').fill('seal');
    await dialog.getByRole('button', { name: 'Seal the server' }).click();
    await heading(installer, 'The server is sealed');
    await keyholder.page.goto('/ui/unseal');
    await give(keyholder, shares[0]!);
    await given(installer, '1 of 2 shares given');
    await give(installer, shares[1]!);
    await heading(installer, 'Seal');
  });
});
