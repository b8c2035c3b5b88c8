import { readFileSync } from 'node:fs';
import type { AutomaticSeal } from '@strongroom/core';
import type { Block, Section } from './section.ts';
import { listed, shown } from './section.ts';

const KEY_BYTES = 32;
const OF_VAULT = ['awskms', 'azurekeyvault', 'gcpckms', 'kmip', 'ocikms', 'pkcs11', 'transit', 'alicloudkms'];

type Environment = Readonly<Record<string, string | undefined>>;

/** The seal of the configuration; undefined for Shamir's, or when it is faulty. */
export function readSeal(top: Section, env: Environment): AutomaticSeal | undefined {
  const blocks = top.blocks('seal', 1);
  if (blocks.length > 1) blocks.at(-1)!.section.complainHere('a second seal: there can be one only');
  return blocks.map((block) => readBlock(block, env)).at(-1);
}

function readBlock({ labels: [type = ''], section }: Block, env: Environment): AutomaticSeal | undefined {
  if (type === 'shamir') {
    section.done();
    return undefined;
  }
  if (type !== 'static') {
    section.complainHere(
      OF_VAULT.includes(type)
        ? 'this seal is not offered: use "static" with a key from the environment or a file, or "shamir"'
        : `${shown(type)} is no seal; it must be ${listed(['shamir', 'static'])}`,
    );
    return undefined;
  }
  const key = readKey(section, 'current_key', env);
  const previousKey = readKey(section, 'previous_key', env);
  const keyId = section.text('current_key_id');
  const previousId = section.text('previous_key_id');
  if (!section.has('current_key')) section.complainHere('current_key is required: 32 bytes as hex or base64, env://NAME or file://path');
  if (previousId !== undefined && previousId === keyId) section.complain('previous_key_id', 'is the same as current_key_id');
  if (section.has('previous_key') !== (previousId !== undefined)) section.complainHere('previous_key and previous_key_id come together');
  section.done();
  return key && { type: 'static', key, ...(previousKey && typeof previousKey !== 'function' ? { previousKey } : {}) };
}

/** Complaints never show what was found. */
function readKey(section: Section, name: string, env: Environment): Uint8Array | (() => Promise<Uint8Array>) | undefined {
  const text = section.text(name);
  if (text === undefined) return undefined;
  const source = /^(env|file):\/\/(.*)$/s.exec(text);
  if (!source) return keyOf(section, name, text, 'must be');
  const [, kind, place = ''] = source;
  if (kind === 'env') {
    const value = env[place];
    if (value) return keyOf(section, name, value, `names the environment variable ${shown(place)}, which must hold`);
    section.complain(name, `names the environment variable ${shown(place)}, which is not set`);
    return undefined;
  }
  const bytes = readIfThere(place);
  if (bytes instanceof Error) {
    section.notice(
      name,
      `names the file ${shown(place)}, which cannot be read yet (${bytes.message}); the server stays sealed until it can`,
    );
    return async () => {
      const later = readIfThere(place);
      if (later instanceof Error) throw new Error(`the file ${shown(place)} cannot be read: ${later.message}`);
      const key = later.length === KEY_BYTES ? later : parsedKey(later.toString('latin1'));
      if (!key) throw new Error(`the file ${shown(place)} does not hold 32 bytes, as they are or as hex or base64`);
      return key;
    };
  }
  return bytes.length === KEY_BYTES
    ? bytes
    : keyOf(section, name, bytes.toString('latin1'), `names the file ${shown(place)}, which must hold`);
}

/** An error whose message is the system's code. */
function readIfThere(place: string): Buffer | Error {
  try {
    return readFileSync(place);
  } catch (error) {
    return new Error((error as NodeJS.ErrnoException).code ?? 'unknown error');
  }
}

function keyOf(section: Section, name: string, written: string, must: string): Uint8Array | undefined {
  const key = parsedKey(written);
  if (!key) section.complain(name, `${must} 32 bytes as hex or base64`);
  return key;
}

function parsedKey(written: string): Uint8Array | undefined {
  const text = written.trim();
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex');
  const bytes = /^[A-Za-z0-9+/_-]{43}=?$/.test(text) ? Buffer.from(text, 'base64') : undefined;
  return bytes?.length === KEY_BYTES ? bytes : undefined;
}
