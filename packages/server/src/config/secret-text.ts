import { readFileSync } from 'node:fs';
import { shown, type Section } from './section.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** A text that is written in the configuration, or that `env://NAME` or `file://path` name there. Complaints never show what was found. */
export function secretText(section: Section, key: string, env: Environment): string | undefined {
  const written = section.text(key);
  const [, scheme, place = ''] = /^(env|file):\/\/(.*)$/s.exec(written ?? '') ?? [];
  if (scheme === undefined) return written;
  const found = scheme === 'env' ? env[place] : fileText(section, key, place);
  const text = found?.trim();
  if (text) return text;
  const source = scheme === 'env' ? `the environment variable ${shown(place)}` : `the file ${shown(place)}`;
  if (found !== undefined) section.complain(key, `names ${source}, which is empty`);
  else if (scheme === 'env') section.complain(key, `names ${source}, which is not set`);
  return undefined;
}

function fileText(section: Section, key: string, place: string): string | undefined {
  try {
    return readFileSync(place, 'utf8');
  } catch (error) {
    section.complain(
      key,
      `names the file ${shown(place)}, which cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'unknown error'}`,
    );
    return undefined;
  }
}
