import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeWhere } from '@strongroom/lab';
import { ConsoleBrowser, noChromium, type Tab } from './console-browser.ts';
import { ConsoleServer } from './console-server.ts';

const VALUE = 'planted-value-of-a-token';

describeWhere(noChromium, 'a wrapping token', () => {
  let server: ConsoleServer;
  let browser: ConsoleBrowser;
  let tab: Tab;
  const wrapped = async (): Promise<string> => {
    const response = await fetch(`${server.origin}/v1/sys/wrapping/wrap`, {
      method: 'POST',
      headers: { 'X-Vault-Token': server.rootToken, 'X-Vault-Wrap-TTL': '10m', 'Content-Type': 'application/json' },
      body: JSON.stringify({ password: VALUE }),
    });
    return ((await response.json()) as { wrap_info: { token: string } }).wrap_info.token;
  };
  const textbox = (name: string) => tab.page.getByRole('textbox', { name });
  const button = (name: string) => tab.page.getByRole('button', { name, exact: true });

  beforeAll(async () => {
    [server, browser] = await Promise.all([ConsoleServer.start(), ConsoleBrowser.start()]);
    tab = await browser.tab(server.origin);
    await tab.login(server.rootToken, '/tools/wrap');
  });
  afterAll(async () => {
    await browser?.stop();
    await server?.stop();
  });

  test('is made, and its data leaves the page', async () => {
    await textbox('Data, as a JSON object').fill(JSON.stringify({ password: VALUE }));
    await button('Wrap').click();
    await button('Copy the link').waitFor();
    expect(await tab.places(VALUE)).toEqual([]);
  });

  test('in a link leaves the address at once, and is used by a click alone', async () => {
    const token = await wrapped();
    await tab.open(`/tools/unwrap#${token}`);
    await button('Unwrap').waitFor();
    expect(new URL(tab.page.url()).hash).toBe('');
    expect((await server.ask('POST', 'sys/wrapping/lookup', { token })).status).toBe(200);
    await button('Unwrap').click();
    await tab.page.getByText('The token is used up.').waitFor();
    expect((await server.ask('POST', 'sys/wrapping/lookup', { token })).status).toBe(400);
    expect(await tab.places(VALUE)).toEqual([]);
    await button('Show password').click();
    await tab.page.getByText(VALUE).waitFor();
    await button('Done').click();
    expect(await tab.places(VALUE)).toEqual([]);
    expect(tab.faults).toEqual([]);
  });

  test('that was used before says so', async () => {
    const token = await wrapped();
    await server.ask('POST', 'sys/wrapping/unwrap', { token });
    await tab.open('/tools/unwrap');
    await textbox('Wrapping token').fill(token);
    await button('Unwrap').click();
    await tab.page.getByText('somebody else may have the data').waitFor();
  });

  test('tells where it was made without being used', async () => {
    const token = await wrapped();
    await tab.open('/tools/lookup');
    await textbox('Wrapping token').fill(token);
    await button('Look up').click();
    await tab.page.getByText('sys/wrapping/wrap', { exact: true }).waitFor();
    expect((await server.ask('POST', 'sys/wrapping/unwrap', { token })).data).toEqual({ password: VALUE });
  });
});
