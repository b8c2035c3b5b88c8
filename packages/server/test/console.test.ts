import { afterEach, describe, expect, test } from '@jest/globals';
import type { PageFiles } from '@strongroom/http';
import { memoryStorage } from '@strongroom/storage-sdk';
import { openConsole } from '../src/console.ts';
import { checkConfiguration } from '../src/config/read-configuration.ts';
import { openServer, type RunningServer } from '../src/server.ts';
import { ServerLog } from '../src/log/server-log.ts';

const PAGE = { type: 'text/html; charset=utf-8', etag: '"1"', identity: Buffer.from('the page') };
const PAGES: PageFiles = new Map([['index.html', PAGE]]);
const TCP = 'listener "tcp" { address = "127.0.0.1:0" }';

const configured = (text: string) => checkConfiguration([{ file: 'server.hcl', text }], { env: {} });

function quietLog(): { log: ServerLog; lines: string[] } {
  const lines: string[] = [];
  return { log: new ServerLog({ level: 'info', format: 'standard', write: (line: string) => void lines.push(line) }), lines };
}

describe('the stanza console', () => {
  test('is read with its defaults', () => {
    expect(configured(TCP).console).toEqual({ ui: 'if-installed', settings: {} });
    expect(configured('ui = true').console.ui).toBe('wanted');
    expect(configured('ui = false').console.ui).toBe('off');
  });

  test('holds what every page needs to know', () => {
    const text = 'console { banner = "Production", idle_minutes = 5, show_seconds = 10, default_method = "auth/corp", session = "memory" }';
    expect(configured(text).console.settings).toEqual({
      banner: 'Production',
      idleMinutes: 5,
      showSeconds: 10,
      defaultMethod: 'corp/',
      session: 'memory',
    });
  });

  test.each([
    ['token', 'token'],
    ['ldap', 'ldap/'],
    ['team/ldap/', 'team/ldap/'],
    ['auth/team/ldap/', 'team/ldap/'],
  ])('default_method = %j means %j', (text, method) => {
    expect(configured(`console { default_method = "${text}" }`).console.settings.defaultMethod).toBe(method);
  });

  test.each([
    ['console { idle_minutes = 0 }', 'idle_minutes is 0; it must be between 1 and 1440'],
    ['console { show_seconds = "long" }', 'show_seconds must be a whole number, not this text'],
    ['console { session = "cookie" }', 'session is "cookie"; it must be "tab" or "memory"'],
    ['console { default_method = "/" }', 'default_method is "/"; it must be "token" or the path of an auth mount'],
    ['console { baner = "x" }', 'baner is not a known key; did you mean banner?'],
    ['console "x" {}', 'console takes no label'],
    [`console { banner = "${'x'.repeat(1001)}" }`, 'banner is longer than 1000 characters'],
    ['listener "tcp" { ui = "perhaps" }', 'ui must be true or false'],
  ])('%j is refused with the reason', (text, complaint) => {
    expect(() => configured(text)).toThrow(complaint);
  });
});

describe('the console of a server', () => {
  let server: RunningServer | undefined;
  afterEach(async () => {
    await server?.stop();
    server = undefined;
  });

  const open = async (text: string): Promise<RunningServer> => {
    server = await openServer({
      configuration: configured(`storage "inmem" {}\n${text}`),
      storage: memoryStorage(),
      log: quietLog().log,
      console: { pages: PAGES },
    });
    return server;
  };
  const page = async (address: string) => {
    const reply = await fetch(`${address}/ui/`);
    return [reply.status, await reply.text()];
  };

  test('is served by every listener that does not leave it out', async () => {
    const { addresses } = await open(`${TCP}\nlistener "tcp" { address = "127.0.0.1:0", ui = false }`);
    expect(await page(addresses[0]!)).toEqual([200, 'the page']);
    expect(await page(addresses[1]!)).toEqual([404, '{"errors":["there is no console at this address"]}\n']);
  });

  test('asks a server that has no keys yet for its settings', async () => {
    const { addresses } = await open(`${TCP}\nconsole { banner = "Production" }`);
    const reply = await fetch(`${addresses[0]!}/v1/sys/internal/ui/config`);
    expect(reply.status).toBe(200);
    expect(((await reply.json()) as { data: object }).data).toEqual({
      banner: 'Production',
      idle_minutes: 15,
      show_seconds: 30,
      default_method: '',
      session: 'tab',
    });
  });
});

describe('the package of the console', () => {
  const missing = Object.assign(new Error("Cannot find package '@strongroom/console' imported from /server.js"), {
    code: 'ERR_MODULE_NOT_FOUND',
  });
  const fails = (error: Error) => async (): Promise<never> => {
    throw error;
  };
  const absent = { noPages: 'the console is not installed on this server: npm install @strongroom/console' };

  test('is loaded where it is installed', async () => {
    const { log } = quietLog();
    expect(await openConsole({ ui: 'if-installed', settings: {} }, log, async () => ({ consoleFiles: () => PAGES }))).toEqual({
      pages: PAGES,
    });
  });

  test('may be absent; who asked for it is warned', async () => {
    const { log, lines } = quietLog();
    expect(await openConsole({ ui: 'if-installed', settings: {} }, log, fails(missing))).toEqual(absent);
    expect(lines).toEqual([]);
    expect(await openConsole({ ui: 'wanted', settings: {} }, log, fails(missing))).toEqual(absent);
    expect(lines.join('')).toContain('npm install @strongroom/console');
  });

  test('is not loaded where it is off', async () => {
    const { log } = quietLog();
    expect(await openConsole({ ui: 'off', settings: {} }, log, fails(new Error('loaded')))).toEqual({
      noPages: 'there is no console at this address',
    });
  });

  test('does not stop the server when it is broken', async () => {
    const { log, lines } = quietLog();
    expect(await openConsole({ ui: 'if-installed', settings: {} }, log, fails(new Error('no index.html')))).toEqual({
      noPages: 'the console cannot be loaded: the log of the server says why',
    });
    expect(lines.join('')).toContain('no index.html');
  });
});
