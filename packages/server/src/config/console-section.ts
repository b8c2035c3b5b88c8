import type { ConsoleSettings } from '@strongroom/core';
import { shown, type Section } from './section.ts';

/** What the configuration says about the console. */
export interface ConsoleChoice {
  /** `off`: there are no pages. `wanted`: `ui = true` stands there, so a missing package is worth a warning. */
  readonly ui: 'off' | 'wanted' | 'if-installed';
  readonly settings: Partial<ConsoleSettings>;
}

export const CONSOLE_DEFAULTS: ConsoleChoice = { ui: 'if-installed', settings: {} };

/** `ui = true` and `console { … }`. */
export function readConsole(top: Section): ConsoleChoice {
  const asked = top.bool('ui');
  const settings = Object.assign({}, ...top.blocks('console', 0).map(({ section }) => readSettings(section))) as Partial<ConsoleSettings>;
  return { ui: asked === undefined ? CONSOLE_DEFAULTS.ui : asked ? 'wanted' : 'off', settings };
}

function readSettings(section: Section): Partial<ConsoleSettings> {
  const banner = section.string('banner');
  const idleMinutes = section.integer('idle_minutes', { min: 1, max: 1_440 });
  const showSeconds = section.integer('show_seconds', { min: 1, max: 3_600 });
  const defaultMethod = readMethod(section);
  const session = section.oneOf('session', ['tab', 'memory']);
  if (banner !== undefined && banner.length > 1_000) section.complain('banner', 'is longer than 1000 characters');
  section.done();
  return {
    ...(banner === undefined ? {} : { banner }),
    ...(idleMinutes === undefined ? {} : { idleMinutes }),
    ...(showSeconds === undefined ? {} : { showSeconds }),
    ...(defaultMethod === undefined ? {} : { defaultMethod }),
    ...(session === undefined ? {} : { session }),
  };
}

/** `auth/corp`, `corp/` and `corp` are the same mount; `token` is no mount of somebody's. */
function readMethod(section: Section): string | undefined {
  const text = section.text('default_method');
  if (text === undefined) return undefined;
  const name = text.replace(/^auth\//, '').replace(/\/+$/, '');
  if (name === '' || /[\s\p{Cc}]/u.test(name)) {
    section.complain('default_method', `is ${shown(text)}; it must be "token" or the path of an auth mount such as "ldap"`);
    return undefined;
  }
  return name === 'token' ? name : `${name}/`;
}
