import { readFileSync } from 'node:fs';
import { namedValue } from '@strongroom/seal-sdk';
import type { Section } from './section.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** A text that is written in the configuration, or that `env://NAME` or `file://path` name there. Complaints never show what was found. */
export function secretText(section: Section, key: string, env: Environment): string | undefined {
  return resolved(section, key, section.text(key), env);
}

/** A map of names and such texts. */
export function secretTexts(section: Section, key: string, env: Environment): Readonly<Record<string, string>> | undefined {
  const written = section.map(key);
  return written && Object.fromEntries(Object.entries(written).map(([name, text]) => [name, resolved(section, key, text, env) ?? '']));
}

function resolved(section: Section, key: string, written: string | undefined, env: Environment): string | undefined {
  if (written === undefined) return undefined;
  const { bytes, place, problem } = namedValue(written, { env, readFile: readFileSync });
  if (problem !== undefined) section.complain(key, problem);
  if (bytes === undefined || place === undefined) return bytes && written;
  const text = Buffer.from(bytes).toString().trim();
  if (text === '') section.complain(key, `names ${place}, which is empty`);
  return text || undefined;
}
