import { EXIT, Failure } from '../failure.ts';
import type { Output } from '../output.ts';
import type { Secret } from '../secret.ts';

/** Prints a list answer. Nothing there is exit code 2: said in words to a person, as an empty object to a program. */
export async function listKeys(out: Output, path: string, secret: Secret | undefined): Promise<number> {
  if (secret?.wrap_info !== undefined) {
    await out.secret(secret);
    return EXIT.ok;
  }
  if (secret?.data === undefined || !Array.isArray(secret.data['keys'])) {
    if (out.plain || out.field !== undefined || out.format === 'raw') throw new Failure(`No value found at ${path}`, EXIT.remote);
    await out.document({});
    return EXIT.remote;
  }
  await out.keys(secret);
  return EXIT.ok;
}
