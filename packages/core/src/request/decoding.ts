import { EngineError, type Decoded } from '@strongroom/engine-sdk';
import type { Call } from './call.ts';

export function isWrite({ operation }: Call): boolean {
  return operation === 'update' || operation === 'create' || operation === 'patch';
}

/** The decoded fields, or what is wrong with them. */
export function decode(call: Call): Decoded | EngineError {
  try {
    return call.match!.path.decode(call.data, call.match!.captures, isWrite(call), call.exactData);
  } catch (error) {
    if (error instanceof EngineError) return error;
    throw error;
  }
}
