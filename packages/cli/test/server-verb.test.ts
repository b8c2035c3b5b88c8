import { describe, expect, jest, test } from '@jest/globals';
import type { ServerFinding } from '../src/cli-io.ts';
import { cliLab } from './fake-server.ts';

const runServer = jest.fn(async (_argv: readonly string[]) => 7);
const findings: ServerFinding[] = [];
const diagnose = jest.fn(async (_paths: readonly string[]) => findings);
const loadServer = jest.fn(async () => ({ runServer, diagnose }));

const lab = cliLab();

describe('server', () => {
  test('hands its flags to the server package, one variant each, and passes on the exit code', async () => {
    const words = ['--dev', '-dev-root-token-id', 'root', '-config', 'a.hcl', '--config=b.json', '-log-level=debug'];
    expect(await lab.run(['server', ...words], { loadServer })).toMatchObject({ code: 7 });
    expect(runServer.mock.calls[0]?.[0]).toEqual([
      '-config=a.hcl',
      '-config=b.json',
      '-log-level=debug',
      '-dev',
      '-dev-root-token-id=root',
    ]);
  });

  test('refuses flags that it does not know before the server is loaded', async () => {
    loadServer.mockClear();
    expect((await lab.run(['server', '-dev-root-token=root'], { loadServer })).stderr).toContain('Did you mean "-dev-root-token-id"?');
    expect(loadServer).not.toHaveBeenCalled();
  });
});

describe('operator diagnose', () => {
  const ok: ServerFinding = { check: 'swap', status: 'ok', message: 'there is none' };
  const warning: ServerFinding = { check: 'user', status: 'warning', message: 'this is root', advice: 'Run it as a user' };
  const failure: ServerFinding = { check: 'storage lmdb', status: 'failure', message: 'no room', advice: 'Free space' };

  test.each([
    [[ok], 0, '[  ok  ] swap: there is none\n'],
    [[ok, warning], 2, '[  ok  ] swap: there is none\n[ warn ] user: this is root\n         Run it as a user\n'],
    [
      [warning, failure],
      1,
      '[ warn ] user: this is root\n         Run it as a user\n[ fail ] storage lmdb: no room\n         Free space\n',
    ],
  ])('with %j exits with %i', async (found, code, stdout) => {
    findings.splice(0, findings.length, ...found);
    expect(await lab.run(['operator', 'diagnose', '-config=a.hcl'], { loadServer })).toMatchObject({ code, stdout });
    expect(diagnose.mock.lastCall?.[0]).toEqual(['a.hcl']);
  });

  test('says the same as a document', async () => {
    findings.splice(0, findings.length, failure);
    const { code, stdout } = await lab.run(['operator', 'diagnose', '-format=json'], { loadServer });
    expect([code, JSON.parse(stdout)]).toEqual([1, { status: 'failure', findings: [failure] }]);
  });
});
