import { BadRequest, f, path, TooManyRequests, type AnyPath, type EngineHost } from '@strongroom/engine-sdk';
import { matchingStep, stepAt, totpCode, withFailure, withUse } from '@strongroom/otp';
import { Type } from 'typebox';
import { keysIn, type KeyRecord } from './records.ts';

/** Wrong codes in a row before a pause. */
const ALLOWED_FAILURES = 5;

type Outcome = 'valid' | 'wrong' | 'unknown' | 'used' | 'length' | { readonly pausedFor: number };

export function codePath(host: EngineHost): AnyPath {
  return path('code/{name}', {
    synopsis: 'Codes of a key.',
    description:
      'A read makes the current code. A write checks one: a code is valid once, and several wrong ones in a row lead to a pause.',
    fields: { name: f.name('Name of the key.'), code: f.string('The code to check.', { default: '' }) },
  })
    .read({
      summary: 'Makes the current code.',
      response: Type.Object({
        code: Type.String({ secret: true }),
        generated: Type.Number({ description: 'Seconds since the epoch.' }),
        expire_time: Type.Number({ description: 'When the next code begins: seconds since the epoch.' }),
        period: Type.String({ description: 'How long a code is shown, such as `30s`.' }),
      }),
      handle: async (req) => {
        const record = await keysIn(req.storage).get(req.data.name);
        if (!record) throw unknown(req.data.name);
        const millis = host.clock.millis();
        const step = stepAt(millis, record);
        return {
          data: {
            code: totpCode(Buffer.from(record.key, 'base64'), step, record),
            generated: Math.floor(millis / 1_000),
            expire_time: (step + 1) * record.period,
            period: `${record.period}s`,
          },
        };
      },
    })
    .update({
      summary: 'Checks a code, and uses it.',
      response: Type.Object({ valid: Type.Boolean() }),
      handle: async ({ data: { name, code }, storage }) => {
        if (code === '') throw new BadRequest('the code value is required');
        const outcome = await storage.transaction(async (tx): Promise<Outcome> => {
          const keys = keysIn(tx);
          const record = await keys.get(name);
          if (!record) return 'unknown';
          const { result, after } = tried(record, code, host.clock.millis());
          if (after) await keys.put(name, after);
          return result;
        });
        // What the attempt changed is committed by now, also where it is refused.
        if (typeof outcome === 'object') {
          throw new TooManyRequests(
            `too many wrong codes: nothing is compared for another ${Math.ceil(outcome.pausedFor / 1_000)} seconds`,
          );
        }
        if (outcome === 'unknown') throw unknown(name);
        if (outcome === 'length') throw new BadRequest('invalid number of digits for the code');
        if (outcome === 'used') throw new BadRequest('code already used; wait until the next time period');
        return { data: { valid: outcome === 'valid' } };
      },
    });
}

function tried(record: KeyRecord, code: string, now: number): { readonly result: Outcome; readonly after?: KeyRecord } {
  if (code.length !== record.digits) return { result: 'length' };
  const pausedFor = (record.paused_until ?? 0) - now;
  if (pausedFor > 0) return { result: { pausedFor } };
  const step = matchingStep(Buffer.from(record.key, 'base64'), code, { ...record, millis: now });
  if (step === undefined) return { result: 'wrong', after: withFailure(record, ALLOWED_FAILURES, now) };
  if (record.used_steps.includes(step)) return { result: 'used' };
  return { result: 'valid', after: withUse(record, step) };
}

function unknown(name: string): BadRequest {
  return new BadRequest(`unknown key: ${name}`);
}
