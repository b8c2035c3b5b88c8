import { describe, expect, test } from '@jest/globals';
import { sessionStep, type SessionTimes } from '../web/app/session-step.ts';

const MINUTE = 60_000;
const IDLE = 15 * MINUTE;
const hour: SessionTimes = { since: 0, ends: 60 * MINUTE, renewable: true };

const at = (minutes: number, times: SessionTimes = hour, quiet = 0, idle = IDLE) =>
  sessionStep(times, { now: minutes * MINUTE, lastInput: (minutes - quiet) * MINUTE, idle });

describe('a session', () => {
  test('is renewed at two thirds of its time while somebody works', () => {
    expect(at(39)).toBe('none');
    expect(at(40)).toBe('renew');
  });

  test('is not renewed for somebody who is away', () => {
    expect(at(45, hour, 20, 60 * MINUTE)).toBe('none');
    expect(at(45, hour, 14, 60 * MINUTE)).toBe('renew');
  });

  test('that cannot be renewed warns five minutes before its end', () => {
    const fixed = { ...hour, renewable: false };
    expect(at(54, fixed)).toBe('none');
    expect(at(55, fixed)).toBe('warn');
    expect(at(60, fixed)).toBe('over');
  });

  test('is over at its end, whoever is there', () => {
    expect(at(61)).toBe('over');
    expect(at(61, hour, 30)).toBe('over');
  });

  test('is locked after its idle time, also when its token never ends', () => {
    expect(at(100, { since: 0, ends: undefined, renewable: false }, 15)).toBe('lock');
    expect(at(100, { since: 0, ends: undefined, renewable: false }, 14)).toBe('none');
    expect(at(30, hour, 5, 5 * MINUTE)).toBe('lock');
  });

  test('of a few seconds is renewed before it ends', () => {
    expect(sessionStep({ since: 0, ends: 30_000, renewable: true }, { now: 20_000, lastInput: 20_000, idle: IDLE })).toBe('renew');
  });
});
