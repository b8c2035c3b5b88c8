import { readFile } from 'node:fs/promises';
import { Failure } from '../failure.ts';

/** The base64 of a public key file, armored or binary. */
async function readKey(file: string): Promise<string> {
  let content: Buffer;
  try {
    content = await readFile(file);
  } catch (error) {
    throw new Failure(`Error reading PGP key: ${(error as Error).message}`);
  }
  const text = content.toString('latin1');
  if (!text.startsWith('-----BEGIN PGP')) return /^[A-Za-z0-9+/=\s]+$/.test(text) ? text.replace(/\s/g, '') : content.toString('base64');
  const body = text.replace(/\r/g, '').split('\n\n').slice(1).join('\n\n');
  return body
    .split('\n')
    .filter((line) => !line.startsWith('-----') && !/^=[A-Za-z0-9+/]{4}$/.test(line))
    .join('');
}

/** Reads the public keys named by comma lists of files, in order; undefined when there are none. A leading `@` is dropped. */
export async function readPgpKeys(texts: readonly string[]): Promise<string[] | undefined> {
  const files = texts.flatMap((text) => text.split(',')).filter((file) => file !== '');
  if (files.length === 0) return undefined;
  const unsupported = files.find((file) => file.startsWith('keybase:'));
  if (unsupported !== undefined)
    throw new Failure(`"${unsupported}": keys are read from files only; save the public key and name its file`);
  return Promise.all(files.map((file) => readKey(file.replace(/^@/, ''))));
}
