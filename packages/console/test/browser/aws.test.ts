import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeWhere, motoMissing } from '@strongroom/lab';
import { ConsoleBrowser, noChromium, type Tab } from './console-browser.ts';
import { buildHouse, type House } from './house.ts';
import { look } from './look.ts';

describeWhere(noChromium ?? motoMissing, 'AWS in the console', () => {
  let house: House;
  let browser: ConsoleBrowser;
  let tab: Tab;

  beforeAll(async () => {
    [house, browser] = await Promise.all([buildHouse(), ConsoleBrowser.start()]);
    tab = await browser.tab(house.server.origin);
    await tab.login(house.server.rootToken, '/aws');
  }, 120_000);

  afterAll(async () => {
    await browser?.stop();
    await house?.stop();
  });

  test('a role of a kind is made, a user of it is borrowed, and ends', async () => {
    const { page } = tab;
    await page.getByRole('link', { name: 'aws/' }).click();
    await page.getByRole('button', { name: 'New role' }).click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('buckets');
    const document = '{ "Version": "2012-10-17", "Statement": [{ "Effect": "Allow", "Action": "s3:GetObject", "Resource": "*" }] }';
    await page.getByRole('textbox', { name: 'Policy document' }).fill(document);
    await page.getByRole('button', { name: 'Create role' }).click();
    await page.getByRole('button', { name: 'Borrow a credential' }).click();
    const panel = page.getByRole('region', { name: 'Shown once' });
    await panel.getByText(/left$/).waitFor();
    await panel.getByRole('button', { name: 'Copy secret_key' }).click();
    const secret = await page.evaluate(() => navigator.clipboard.readText());
    expect(secret.length).toBeGreaterThan(20);
    expect(await tab.places(secret)).toEqual([]);
    await look(tab, 'aws-issued');
    await panel.getByRole('button', { name: 'End now' }).click();
    await page.getByText('It has ended').waitFor();
    expect(tab.faults).toEqual([]);
  });

  test('a static key is replaced, and the page draws when each key works', async () => {
    const { page } = tab;
    await tab.open('/aws/aws/static/deployer');
    await page.getByRole('img', { name: /The key in use was made/ }).waitFor();
    await look(tab, 'aws-static');
    await page.getByRole('button', { name: 'Rotate now' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate now' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(tab.faults).toEqual([]);
  });
});
