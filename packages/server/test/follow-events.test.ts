import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { checkConfiguration } from '../src/config/read-configuration.ts';
import { startServer, type RunningServer } from '../src/index.ts';
import { ServerLog } from '../src/log/server-log.ts';

const EXAMPLE = fileURLToPath(new URL('../../../examples/follow-events/follow.mjs', import.meta.url));
const TOKEN = 'root-of-this-test';
const curlMissing = spawnSync('curl', ['--version']).status === 0 ? undefined : 'curl is not installed';

describe('programs that follow events', () => {
  let server: RunningServer;
  const children: ChildProcess[] = [];

  beforeEach(async () => {
    const text = 'listener "tcp" { address = "127.0.0.1:0" }';
    const configuration = checkConfiguration([{ file: 'server.hcl', text }], { env: {}, dev: true });
    server = await startServer({
      configuration,
      log: new ServerLog({ level: 'error', format: 'json', write: () => {} }),
      devRootToken: TOKEN,
    });
  });
  afterEach(async () => {
    for (const child of children.splice(0)) child.kill();
    await server.stop();
  });

  const put = async (name: string): Promise<void> => {
    const body = JSON.stringify({ data: { password: 'hunter2' } });
    const answer = await fetch(`${server.addresses[0]!}/v1/secret/data/${name}`, {
      method: 'POST',
      headers: { 'X-Vault-Token': TOKEN },
      body,
    });
    expect(answer.status).toBe(200);
  };
  /** Starts a program; `until` resolves with its output once that has a text. */
  const run = (command: string, words: readonly string[]): { until: (text: string) => Promise<string> } => {
    const env = { ...process.env, NODE_OPTIONS: '', STRONGROOM_ADDR: server.addresses[0]!, STRONGROOM_TOKEN: TOKEN };
    const child = spawn(command, words, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    children.push(child);
    let output = '';
    let look = (): void => undefined;
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        look();
      });
    return {
      until: async (text) =>
        new Promise((resolve, reject) => {
          look = () => output.includes(text) && resolve(output);
          child.once('exit', (code) => reject(new Error(`it ended with ${String(code)}: ${output}`)));
          look();
        }),
    };
  };

  test('learn in Node, without a dependency, of what is written', async () => {
    const subscriber = run(process.execPath, [EXAMPLE, 'secret']);
    await subscriber.until('ready');
    await put('shop/db');
    await put('shop/db');
    const output = await subscriber.until('version 2');
    expect(output).toMatch(/ secret\.written secret\/data\/shop\/db version 1\n.* secret\.written secret\/data\/shop\/db version 2/);
    expect(output).not.toContain('hunter2');
  });

  (curlMissing === undefined ? test : test.skip)(
    `learn of it with curl${curlMissing === undefined ? '' : ` (skipped: ${curlMissing})`}`,
    async () => {
      const url = `${server.addresses[0]!}/v1/sys/events?kinds=secret`;
      const subscriber = run('curl', ['--silent', '--no-buffer', '--include', '--header', `X-Vault-Token: ${TOKEN}`, url]);
      const head = await subscriber.until('event: ready');
      expect(head).toMatch(/content-type: text\/event-stream/i);
      expect(head).toMatch(/x-accel-buffering: no/i);
      await put('a');
      expect(await subscriber.until('"version":1')).toContain('event: secret.written\n');
      await server.stop();
      expect(await subscriber.until('event: end')).toContain('the server is stopping');
    },
  );
});
