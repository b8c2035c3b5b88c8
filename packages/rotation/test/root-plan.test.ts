import { describe, expect, test } from '@jest/globals';
import { rootPlanOf, rotatesByItself, type RotationPlan } from '../src/index.ts';

const none: RotationPlan = { rotation_period: 0, rotation_schedule: '', rotation_window: 0, disable_automated_rotation: false };
const hourly: RotationPlan = { ...none, rotation_period: 3_600 };
const nightly: RotationPlan = { ...none, rotation_schedule: '0 3 * * *', rotation_window: 7_200 };

describe('the plan of a root credential after a write', () => {
  test.each([
    ['nothing, over nothing', undefined, {}, none],
    ['zero and empty, over nothing', undefined, { rotation_period: 0, rotation_schedule: '', rotation_window: 0 }, none],
    ['a period, over nothing', undefined, { rotation_period: 3_600 }, hourly],
    ['nothing, over a period', hourly, {}, hourly],
    ['nothing, over a schedule with a window', nightly, {}, nightly],
    ['a schedule, over a period', hourly, { rotation_schedule: '0 3 * * *', rotation_window: 7_200 }, nightly],
    ['a schedule beside a period of 0', hourly, { rotation_period: 0, rotation_schedule: '0 3 * * *', rotation_window: 7_200 }, nightly],
    ['a period, over a schedule', nightly, { rotation_period: 3_600 }, hourly],
    ['a period beside an empty schedule', nightly, { rotation_period: 3_600, rotation_schedule: '' }, hourly],
    ['a period of 0, over a period', hourly, { rotation_period: 0 }, none],
    ['a period of 0, over a schedule', nightly, { rotation_period: 0 }, nightly],
    ['an empty schedule, over a schedule', nightly, { rotation_schedule: '' }, none],
    ['a window of 0', nightly, { rotation_window: 0 }, { ...nightly, rotation_window: 0 }],
    [
      'another schedule: the window was that of the one before',
      nightly,
      { rotation_schedule: '0 4 * * *' },
      { ...none, rotation_schedule: '0 4 * * *' },
    ],
    ['a pause', hourly, { disable_automated_rotation: true }, { ...hourly, disable_automated_rotation: true }],
    ['a pause of what comes later', none, { disable_automated_rotation: true }, { ...none, disable_automated_rotation: true }],
  ])('%s', (_title, before, sent, after) => {
    expect(rootPlanOf(before, sent)).toEqual(after);
  });

  test('rotates by itself with times, unless it is paused', () => {
    expect([undefined, none, hourly, nightly, { ...hourly, disable_automated_rotation: true }].map(rotatesByItself)).toEqual([
      false,
      false,
      true,
      true,
      false,
    ]);
  });
});
