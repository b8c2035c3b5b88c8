import { randomBytes } from 'node:crypto';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeWhere } from '@strongroom/lab';
import { ConsoleBrowser, noChromium, type Tab } from './console-browser.ts';
import { ConsoleServer } from './console-server.ts';
import { look } from './look.ts';
import { PGP_FINGERPRINT, PGP_KEY } from './pgp-key-of-nobody.ts';

/** The tests of this file are one story, in their order. */
describeWhere(noChromium, 'a server whose seal opens it', () => {
  let folder: string;
  let browser: ConsoleBrowser;
  let server: ConsoleServer;
  let shares: string[] = [];
  let rootToken = '';
  const seal = (): string =>
    `seal "static" {\n  current_key_id = "first"\n  current_key = "file://${join(folder, 'key')}"\n  health_check_interval = "1h"\n}\n`;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'strongroom-seals-'));
    await writeFile(join(folder, 'key'), randomBytes(32).toString('hex'));
    browser = await ConsoleBrowser.start();
    server = await ConsoleServer.start({ uninitialized: true, store: join(folder, 'store') });
    const { body } = await server.set('PUT', 'sys/init', { secret_shares: 2, secret_threshold: 2 });
    ({ keys: shares, root_token: rootToken } = body as { keys: string[]; root_token: string });
    await server.stop();
    server = await ConsoleServer.start({ uninitialized: true, store: join(folder, 'store'), configuration: seal() });
  }, 60_000);
  afterAll(async () => {
    await browser?.stop();
    await server?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const heading = async (tab: Tab, name: string): Promise<void> => tab.page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
  const give = async (tab: Tab, share: string, field: string): Promise<void> => {
    await tab.page.getByRole('textbox', { name: field }).fill(share);
    await tab.page.getByRole('button', { name: 'Give the share' }).click();
  };
  const given = async (tab: Tab, text: string): Promise<void> => tab.page.getByRole('status').getByText(text).waitFor();

  test('is migrated to it from shares, by those who say that they want to', async () => {
    const tab = await browser.tab(server.origin);
    await tab.page.goto('/ui/');
    await heading(tab, 'The seal is to be migrated');
    await tab.page.getByText('2 of 2 present shares migrate it').waitFor();
    await tab.page.getByRole('textbox', { name: 'Unseal or recovery share' }).fill(shares[0]!);
    expect(await tab.page.getByRole('button', { name: 'Give the share' }).isDisabled()).toBe(true);
    await tab.page.getByRole('checkbox', { name: 'Migrate the store to the seal “static”' }).check();
    await look(tab, 'migration');
    expect(await tab.violations()).toEqual([]);
    for (const share of shares) {
      await give(tab, share, 'Unseal or recovery share');
      if (share === shares[0]) await given(tab, '1 of 2 shares given');
    }
    await heading(tab, 'Log in');
    expect(tab.faults).toEqual([]);
    await tab.close();
  });

  test('shows its seals, and its recovery shares open it after somebody sealed it by hand', async () => {
    const tab = await browser.tab(server.origin);
    await tab.login(rootToken, '/server/seal');
    await tab.page.getByRole('row', { name: /static static 1 works/ }).waitFor();
    await look(tab, 'seal');
    await tab.page.getByRole('button', { name: 'Seal the server' }).click();
    const dialog = tab.page.getByRole('dialog');
    await dialog.getByText('2 recovery shares open it again, and so does a restart').waitFor();
    await dialog.getByRole('textbox').fill('seal');
    await dialog.getByRole('button', { name: 'Seal the server' }).click();
    await heading(tab, 'The server is sealed');
    await tab.page.getByText('or until 2 of 2 recovery shares are given').waitFor();
    await look(tab, 'sealed-by-hand');
    await give(tab, shares[0]!, 'Recovery share');
    await given(tab, '1 of 2 shares given');
    await give(tab, shares[0]!.replaceAll(/[0-4]/g, '5'), 'Recovery share');
    const alert = tab.page.getByRole('alert', { name: 'The server refused this' });
    await alert.waitFor();
    expect(await alert.innerText()).not.toMatch(/cipher|authenticate|decrypt/i);
    for (const share of shares)
      await give(tab, share, 'Recovery share').then(async () => share === shares[0] && given(tab, '1 of 2 shares given'));
    await heading(tab, 'Seal');
    expect(tab.faults).toEqual([]);
    await tab.close();
  });

  test('gets new recovery shares that PGP keys alone can read, and keeps a copy of them until it is deleted', async () => {
    const tab = await browser.tab(server.origin);
    await tab.login(rootToken, '/server/keys');
    const part = tab.page.getByRole('region', { name: 'New recovery shares' });
    await part.getByRole('textbox', { name: 'Shares' }).fill('1');
    await part.getByRole('textbox', { name: 'Needed' }).fill('1');
    await part.getByRole('checkbox', { name: 'Verify the new shares' }).uncheck();
    await part.getByRole('checkbox', { name: 'Encrypt to PGP keys' }).check();
    await part.getByRole('textbox', { name: 'PGP key of keyholder 1' }).fill('no key');
    await part.getByRole('button', { name: 'Make new shares' }).click();
    await part.getByRole('alert', { name: 'The server refused this' }).getByText('PGP key').waitFor();
    const file = { name: 'nobody.asc', mimeType: 'application/pgp-keys', buffer: Buffer.from(PGP_KEY) };
    await part.locator('input[type="file"]').setInputFiles(file);
    await part.getByRole('button', { name: 'Make new shares' }).click();
    await part.getByText(PGP_FINGERPRINT).waitFor();
    await look(tab, 'rekey');
    await give(tab, shares[0]!, 'Present share');
    await given(tab, '1 of 2 shares given');
    await give(tab, shares[1]!, 'Present share');
    await part.getByText(`Recovery share 1, to ${PGP_FINGERPRINT}`).waitFor();
    await look(tab, 'new-shares');
    expect(await tab.violations()).toEqual([]);
    await part.getByRole('checkbox').check();
    await part.getByRole('button', { name: 'Done' }).click();
    const backup = tab.page.getByRole('region', { name: 'Backup of encrypted shares' });
    await backup.getByRole('button', { name: 'Look for a backup' }).click();
    await backup.getByRole('button', { name: `Copy the share of ${PGP_FINGERPRINT}` }).waitFor();
    await look(tab, 'backup');
    await backup.getByRole('button', { name: 'Delete the backup' }).click();
    await tab.page.getByRole('dialog').getByRole('button', { name: 'Delete the backup' }).click();
    await backup.getByText('There is none.').waitFor();
    expect(tab.faults).toEqual([]);
    await tab.close();
  });

  test('waits for a seal that does not answer, says so, and goes on by itself', async () => {
    await server.stop();
    await rename(join(folder, 'key'), join(folder, 'away'));
    server = await ConsoleServer.start({ uninitialized: true, store: join(folder, 'store'), configuration: seal() });
    const tab = await browser.tab(server.origin);
    await tab.page.goto('/ui/');
    await heading(tab, 'The server is sealed');
    await tab.page.getByRole('alert', { name: 'The seal does not answer yet' }).waitFor();
    await look(tab, 'seal-away');
    expect(await tab.page.getByRole('textbox').count()).toBe(0);
    expect(await tab.violations()).toEqual([]);
    await rename(join(folder, 'away'), join(folder, 'key'));
    await heading(tab, 'Log in');
    expect(tab.faults).toEqual([]);
    await tab.close();
  });
});
