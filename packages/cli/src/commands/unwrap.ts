import type { ApiClient } from '../client.ts';
import { secretWithin } from '../client.ts';
import { defineCommand } from '../command.ts';
import { ApiFailure, doing, EXIT, Failure } from '../failure.ts';
import type { Secret } from '../secret.ts';
import { readSecret } from '../secret.ts';

async function fromCubbyhole(client: ApiClient, wrapping: string): Promise<Secret | undefined> {
  const stored = await client.withToken(wrapping).read('cubbyhole/response');
  const text = stored?.data?.['response'];
  if (typeof text !== 'string') throw new Failure('The wrapping token holds no wrapped answer', EXIT.remote);
  return readSecret(text);
}

/** Opens a wrapping token: with the caller's own token in the header when there is one, else with the wrapping token itself. */
export async function unwrapToken(client: ApiClient, token: string | undefined): Promise<Secret | undefined> {
  const wrapping = token ?? client.token;
  if (wrapping === undefined) throw new Failure('No wrapping token: give it as an argument, or log in with it');
  const own = client.token !== undefined && client.token !== wrapping;
  try {
    const reply = await client.call('PUT', 'sys/wrapping/unwrap', own ? { body: { token: wrapping } } : { token: wrapping });
    return client.parse(reply.text);
  } catch (error) {
    if (!(error instanceof ApiFailure) || error.status !== 404) throw error;
    return secretWithin(error) ?? fromCubbyhole(client, wrapping);
  }
}

export default defineCommand({
  name: 'unwrap',
  synopsis: 'Unwrap a wrapped secret',
  description:
    'Opens a wrapping token once and prints what it holds. Without an argument your own token is taken to be the wrapping token.',
  args: ['[TOKEN]'],
  flags: {},
  examples: [{ text: 'Open a wrapping token:', command: 'unwrap s.3kEGZDGrMFwUh4kLXRmhyFtG' }],
  async run({ args: [token], out, client }) {
    const secret = await doing('Error unwrapping', unwrapToken(client(), token));
    if (secret === undefined) return out.success('Unwrapped. There was no data in the wrapped answer.');
    await out.secret(secret);
  },
});
