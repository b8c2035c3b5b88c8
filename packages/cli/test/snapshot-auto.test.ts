import { describe, expect, test } from '@jest/globals';
import { cliLab } from './fake-server.ts';

const lab = cliLab();
const PATH = 'sys/storage/raft/snapshot-auto';
const auto = async (...words: string[]) => lab.run(['operator', 'snapshot', 'auto', ...words]);

describe('operator snapshot auto', () => {
  test('writes settings, takes a snapshot now and deletes a series', async () => {
    for (const call of [`PUT ${PATH}/config/hourly`, `PUT ${PATH}/run/hourly`, `DELETE ${PATH}/config/hourly`])
      lab.routes[call] = { status: 204 };
    const written = await auto('write', 'hourly', 'storage_type=local', 'path_prefix=/backup', 'interval=1h');
    expect(written).toMatchObject({
      code: 0,
      stdout: 'Success! Snapshots of hourly are scheduled. See: operator snapshot auto status hourly\n',
    });
    expect(lab.seen.at(-1)?.body).toEqual({ storage_type: 'local', path_prefix: '/backup', interval: '1h' });
    expect((await auto('run', 'hourly')).stdout).toContain('A snapshot of hourly is due now.');
    expect((await auto('delete', 'hourly')).stdout).toContain('The snapshots stay.');
  });

  test('shows settings, status and names, and says in a sentence that there are none', async () => {
    lab.routes[`GET ${PATH}/config/hourly`] = { body: { data: { interval: 3600 } } };
    lab.routes[`GET ${PATH}/status/hourly`] = { body: { data: { consecutive_errors: 0 } } };
    lab.routes[`GET ${PATH}/config?list=true`] = { body: { data: { keys: ['hourly'] } } };
    expect((await auto('read', 'hourly')).stdout).toMatch(/interval\s+3600/);
    expect((await auto('status', 'hourly')).stdout).toMatch(/consecutive_errors\s+0/);
    expect((await auto('list')).stdout).toContain('hourly');
    for (const words of [
      ['read', 'none'],
      ['status', 'none'],
    ])
      expect(await auto(...words)).toMatchObject({ code: 2, stderr: 'There are no scheduled snapshots none.\n' });
    delete lab.routes[`GET ${PATH}/config?list=true`];
    expect(await auto('list')).toMatchObject({ code: 2, stderr: 'No snapshots are scheduled.\n' });
  });
});
