import { Failure } from '../failure.ts';

/** One `-secret`: what to read, and the names of the variables that it becomes. */
export interface WantedSecret {
  readonly path: string;
  /** One field alone; undefined for all of them. */
  readonly field: string | undefined;
  /** The variable for `field`; undefined names each variable after its field. */
  readonly variable: string | undefined;
  /** As the user typed it, for messages. */
  readonly text: string;
}

/** Reads `PATH`, `PATH#field` or `NAME=PATH#field`. @throws Failure that says what is wrong */
export function parseWantedSecret(text: string): WantedSecret {
  const [, variable, rest = ''] = /^(?:([A-Za-z_][A-Za-z0-9_]*)=)?(.*)$/s.exec(text) ?? [];
  const hash = rest.lastIndexOf('#');
  const path = hash < 0 ? rest : rest.slice(0, hash);
  const field = hash < 0 ? undefined : rest.slice(hash + 1);
  const wrong = (why: string): Failure => new Failure(`Invalid value "${text}" for flag -secret: ${why}`);
  if (path === '') throw wrong('expected a path, such as secret/app, secret/app#password or DB_PASSWORD=secret/app#password');
  if (field === '') throw wrong('expected a field after the "#"');
  if (variable !== undefined && field === undefined) throw wrong(`expected the field that ${variable} gets, such as ${text}#password`);
  return { path, field, variable, text };
}
