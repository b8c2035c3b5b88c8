import { readFile } from 'node:fs/promises';
import { Failure } from '../failure.ts';

/** The base64 of a public key file: binary, armored, or base64 of either. */
async function readKey(file: string): Promise<string> {
  let content: Buffer;
  try {
    content = await readFile(file);
  } catch (error) {
    throw new Failure(`Error reading PGP key: ${(error as Error).message}`);
  }
  if (content.length === 0) throw new Failure(`Error reading PGP key: ${file} is empty`);
  if (content.includes('-----BEGIN PGP PRIVATE KEY')) {
    throw new Failure(`Error reading PGP key: ${file} holds a private key, which nobody else may see; give the public key`);
  }
  const text = content.toString('latin1').trim();
  const decoded = /^[A-Za-z0-9+/=\s]+$/.test(text) ? Buffer.from(text, 'base64') : content;
  return decoded.toString('latin1').startsWith('-----BEGIN PGP') ? withoutArmor(decoded.toString('latin1')) : decoded.toString('base64');
}

function withoutArmor(text: string): string {
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
