import { describe, expect, test } from '@jest/globals';
import { checkedCore, manualClock } from '@strongroom/engine-testkit';
import { memoryStorage } from '@strongroom/storage-sdk';
import type { CoreResponse } from '../../src/index.ts';
import { doorLogin, PASSWORD } from './door-engine.ts';

describe('a login name with too many refused logins', () => {
  test('is locked for a while, also for the right password, shown to operators and unlocked by them', async () => {
    const clock = manualClock();
    let tried = 0;
    const userpass = { ...doorLogin(() => (tried += 1)), name: 'userpass' };
    const core = await checkedCore({ storage: memoryStorage(), plugins: [userpass], devRootToken: 'root', clock });
    await core.handle({ operation: 'update', path: 'sys/auth/staff', token: 'root', data: { type: 'userpass' } });
    const login = async (user: string, password: string): Promise<CoreResponse> =>
      core.handle({ operation: 'update', path: `auth/staff/login/${user}`, data: { password } });

    for (let i = 0; i < 5; i += 1) expect((await login('ann', 'wrong')).status).toBe(400);
    const locked = await login('ann', PASSWORD);
    expect([locked.status, locked.errors]).toEqual([403, ['permission denied']]);
    expect(tried).toBe(5);
    expect((await login('bob', PASSWORD)).status).toBe(200);

    const shown = (await core.handle({ operation: 'read', path: 'sys/locked-users', token: 'root' })).data as {
      total: number;
      by_namespace: { mount_accessors: { mount_accessor: string; alias_identifiers: string[] }[] }[];
    };
    expect(shown.total).toBe(1);
    const [first] = shown.by_namespace[0]!.mount_accessors;
    expect(first!.alias_identifiers).toEqual(['ann']);
    const unlock = `sys/locked-users/${first!.mount_accessor}/unlock/ann`;
    expect((await core.handle({ operation: 'update', path: unlock, token: 'root' })).status).toBe(204);
    expect((await login('ann', PASSWORD)).status).toBe(200);

    for (let i = 0; i < 5; i += 1) await login('ann', 'wrong');
    expect((await login('ann', PASSWORD)).status).toBe(403);
    await clock.advance('16m');
    expect((await login('ann', PASSWORD)).status).toBe(200);
    await core.close();
  });
});
