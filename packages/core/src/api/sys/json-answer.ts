import { rawAnswer, type EngineResponse } from '@strongroom/engine-sdk';
import type { TSchema } from 'typebox';

/** The declaration of a bare JSON answer, without the envelope. */
export const json200 = (schema: TSchema) => rawAnswer('application/json', schema);

/** A bare JSON answer. */
export function json(body: unknown, status = 200): EngineResponse<never> {
  return { status, raw: { contentType: 'application/json', body: `${JSON.stringify(body)}\n` } } as EngineResponse<never>;
}
