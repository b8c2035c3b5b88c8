import { execFile, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { describeWhere, findProgram } from '@strongroom/lab';
import { command, freePort } from '../src/server-process.ts';

const GUIDE = fileURLToPath(new URL('../../../docs/production.md', import.meta.url));
const missing = ['bash', 'openssl', 'curl', 'awk'].find((program) => findProgram(program) === undefined);

/** The blocks that operators type, in their order, each with the heading above it. */
function sessionsOf(guide: string): { heading: string; script: string }[] {
  let heading = '';
  const sessions: { heading: string; script: string }[] = [];
  for (const [, title, script] of guide.matchAll(/^#+ (.+)$|^```sh\n([\s\S]*?)^```$/gm)) {
    if (title !== undefined) heading = title;
    else sessions.push({ heading, script: script! });
  }
  return sessions;
}

/** systemd's part: starts and stops the server of this test. */
function systemctl(folder: string): string {
  const pid = join(folder, 'server.pid');
  return `#!/bin/bash
set -e
case "$1" in
  start)
    strongroom server -config=${folder}/etc > ${folder}/server.log 2>&1 & echo $! > ${pid}
    until strongroom status > /dev/null 2>&1 || test $? -eq 2; do sleep 0.1; kill -0 "$(cat ${pid})"; done ;;
  stop)
    kill -TERM "$(cat ${pid})"; while kill -0 "$(cat ${pid})" 2> /dev/null; do sleep 0.05; done; rm ${pid} ;;
  reload) kill -HUP "$(cat ${pid})" ;;
  *) exit 2 ;;
esac
`;
}

describeWhere(missing === undefined ? undefined : `${missing} is not installed`, 'the production guide', () => {
  jest.setTimeout(600_000);
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'strongroom-guide-'));
    for (const name of ['bin', 'root', 'backup']) mkdirSync(join(folder, name));
  });
  afterAll(() => {
    const pid = join(folder, 'server.pid');
    if (existsSync(pid)) spawnSync('kill', ['-KILL', readFileSync(pid, 'utf8').trim()]);
    rmSync(folder, { recursive: true, force: true });
  });

  test('works from the first command to the last', async () => {
    const port = await freePort();
    const address = `https://127.0.0.1:${port}`;
    for (const [name, text] of [
      ['strongroom', `#!/bin/bash\nexec ${process.execPath} ${command} "$@"\n`],
      ['systemctl', systemctl(folder)],
    ] as const) {
      writeFileSync(join(folder, 'bin', name), text);
      chmodSync(join(folder, 'bin', name), 0o755);
    }
    const sessions = sessionsOf(readFileSync(GUIDE, 'utf8'));
    expect(sessions.length).toBeGreaterThan(10);
    const script = sessions.map((session) => `echo "== ${session.heading}"\n${session.script}`).join('\n');
    const here = script
      .replaceAll('/etc/strongroom', join(folder, 'etc'))
      .replaceAll('/var/lib/strongroom', join(folder, 'data'))
      .replaceAll('/var/log/strongroom', join(folder, 'log'))
      .replaceAll('/root/', `${join(folder, 'root')}/`)
      .replaceAll('/backup', join(folder, 'backup'))
      .replaceAll('127.0.0.1:8200', `127.0.0.1:${port}`);
    // `systemctl` asks the server as well, before the guide has said where it is.
    const env = {
      PATH: `${join(folder, 'bin')}:${process.env['PATH'] ?? ''}`,
      HOME: folder,
      STRONGROOM_ADDR: address,
      STRONGROOM_CACERT: join(folder, 'etc', 'tls.crt'),
      NODE_OPTIONS: '',
    };
    const outcome = await new Promise<{ code: unknown; output: string }>((resolve) => {
      execFile('bash', ['--norc', '-euo', 'pipefail', '-c', here], { env, cwd: folder }, (error, stdout, stderr) => {
        resolve({ code: error?.code ?? 0, output: `${stdout}\n${stderr}` });
      });
    });
    if (outcome.code !== 0) throw new Error(`the guide ends with ${String(outcome.code)}: ${outcome.output.slice(-2_000)}`);
    expect(outcome.output).toMatch(/== Load balancers\n200\n/);
  });
});
