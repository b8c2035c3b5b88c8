import { describe, expect, jest, test } from '@jest/globals';
import { cliLab } from './fake-server.ts';

const runServer = jest.fn(async (_argv: readonly string[]) => 7);
const loadServer = jest.fn(async () => ({ runServer }));

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
