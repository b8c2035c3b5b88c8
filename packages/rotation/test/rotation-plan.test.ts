import { describe, expect, test } from '@jest/globals';
import { planOf, type RotationPlan } from '../src/index.ts';

const scheduled: RotationPlan = { rotation_period: 0, rotation_schedule: '0 3 * * *', rotation_window: 0 };

describe('rotation_schedule', () => {
  test.each(['*/5 * * * *', '0 0 1,15 * *', '0-30/10 8-18 * JAN-dec mon-FRI', '59 23 31 12 7'])(
    '%p is standard cron',
    (rotation_schedule) => {
      expect(planOf(undefined, { rotation_schedule })).toMatchObject({ rotation_schedule });
    },
  );

  test.each(['0 0 L * *', '0 0 15W * *', '0 0 * * 1#2', '0 0 ? * 1', '0 0 * * +1', '0 0 LW * *'])('%p is not', (rotation_schedule) => {
    expect(() => planOf(undefined, { rotation_schedule })).toThrow(/^could not parse rotation_schedule: ".*" is not standard cron/);
  });

  test('cannot be taken away without something in its place', () => {
    expect(() => planOf(scheduled, { rotation_schedule: '' })).toThrow('rotation_schedule must not be empty');
    expect(planOf(scheduled, { rotation_schedule: '', rotation_period: 60 })).toMatchObject({ rotation_schedule: '', rotation_period: 60 });
    expect(planOf({ ...scheduled, rotation_schedule: '', rotation_period: 60 }, { rotation_schedule: '' })).toMatchObject({
      rotation_period: 60,
    });
  });
});
