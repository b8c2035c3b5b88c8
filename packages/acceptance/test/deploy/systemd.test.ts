import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { describeWhere, findProgram } from '@strongroom/lab';

const UNIT = join(fileURLToPath(new URL('../../../..', import.meta.url)), 'deploy', 'systemd', 'strongroom.service');
/** At most this exposed, of 10. */
const BOUND = 2;

const analyze = findProgram('systemd-analyze');

describeWhere(
  analyze === undefined ? 'systemd-analyze is not installed' : undefined,
  'the systemd unit, as systemd-analyze sees it',
  () => {
    test(`is exposed by at most ${BOUND} of 10`, () => {
      const { stdout, stderr } = spawnSync(analyze!, ['security', '--offline=yes', '--no-pager', UNIT], { encoding: 'utf8' });
      const [, level] = /Overall exposure level for strongroom\.service: ([\d.]+)/.exec(stdout) ?? [];
      expect([stderr, Number(level) <= BOUND]).toEqual(['', true]);
    });

    test('has no directive that systemd does not know', () => {
      const { stderr } = spawnSync(analyze!, ['verify', '--man=no', UNIT], { encoding: 'utf8' });
      // The command is installed where the unit runs, not here.
      const complaints = stderr
        .split('\n')
        .filter((line) => line.includes(UNIT) || /strongroom\.service: (?!Command \/usr\/bin\/strongroom)/.test(line));
      expect(complaints).toEqual([]);
    });
  },
);

describe('the systemd unit', () => {
  const unit = new Map(
    readFileSync(UNIT, 'utf8')
      .split('\n')
      .filter((line) => /^\w+=/.test(line))
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );

  test('keeps secrets out of swap and core dumps, and runs as a user of its own', () => {
    expect([unit.get('MemorySwapMax'), unit.get('LimitCORE'), unit.get('User')]).toEqual(['0', '0', 'strongroom']);
  });

  test('gives requests under way more time than the server takes to stop', () => {
    expect(Number(unit.get('TimeoutStopSec'))).toBeGreaterThan(30);
  });
});
