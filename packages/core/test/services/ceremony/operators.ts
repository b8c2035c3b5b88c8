import { BadRequest } from '@strongroom/engine-sdk';
import { ask, bodyOf } from '@strongroom/engine-testkit';
import type { Core, CoreRequest, OpenPgp } from '../../../src/index.ts';

/** Keys that encrypt by writing `<name>:` before the text, so that tests can read what they made. Named `key-…`, else refused. */
export const openPgp: OpenPgp = {
  async readPublicKey(bytes) {
    const name = Buffer.from(bytes).toString();
    if (!name.startsWith('key-')) throw new BadRequest('it is no key of this test');
    return { fingerprint: `fingerprint-of-${name}`, encrypt: async (plain) => Buffer.concat([Buffer.from(`${name}:`), plain]) };
  },
};

export const pgpKey = (name: string): string => Buffer.from(`key-${name}`).toString('base64');

/** What the holder of a key reads of something that was encrypted to it. */
export function decrypted(message: Buffer, name: string): string {
  const text = message.toString();
  const start = `key-${name}:`;
  if (!text.startsWith(start)) throw new Error(`it is not for ${name}`);
  return text.slice(start.length);
}

/** What answers of ceremonies show, as far as the tests read them. */
export interface Shown {
  readonly started: boolean;
  readonly complete: boolean;
  readonly progress: number;
  readonly required: number;
  readonly n: number;
  readonly t: number;
  readonly nonce: string;
  readonly verification_nonce: string;
  readonly keys: string[];
  readonly keys_base64: string[];
  readonly recovery_keys: string[];
  readonly root_token: string;
  readonly otp: string;
  readonly encoded_token: string;
  readonly encoded_root_token: string;
  readonly token: string;
}

export interface Answer {
  readonly status: number;
  readonly errors: readonly string[] | undefined;
  readonly data: Shown;
}

/** Asks as an operator; `data` is what is in the envelope, or the bare body. */
export async function operator(
  core: Core,
  call: string,
  body?: Record<string, unknown>,
  more: { token?: string | undefined; tokenless?: CoreRequest['tokenless'] } = {},
): Promise<Answer> {
  const answer = await ask(core, call, { body, ...more });
  const shown = (bodyOf(answer) ?? {}) as Record<string, unknown>;
  return { status: answer.status, errors: answer.errors, data: ('request_id' in shown ? shown['data'] : shown) as Shown };
}

/** Unseals with these shares, in hex; whether that opened it. */
export async function unseals(core: Core, shares: readonly string[]): Promise<boolean> {
  await operator(core, 'PUT sys/unseal', { reset: true });
  for (const key of shares) await operator(core, 'PUT sys/unseal', { key });
  return !core.sealed;
}
