import type { LockoutDefaults } from '@strongroom/core';
import { closest } from '@strongroom/engine-sdk';
import { shown, type Section } from './section.ts';

type Environment = Readonly<Record<string, string | undefined>>;
type Settings = NonNullable<LockoutDefaults['all']>;

/** Mount types whose names are worth a question; others are of plugins. */
const KNOWN = ['all', 'approle', 'ldap', 'userpass'];
const DISABLE = ['STRONGROOM_DISABLE_USER_LOCKOUT', 'BAO_DISABLE_USER_LOCKOUT', 'VAULT_DISABLE_USER_LOCKOUT'];

/** `user_lockout "userpass" { lockout_threshold = 10 }`, by mount type or for `all`; undefined where nothing is configured. */
export function readLockout(top: Section, env: Environment): LockoutDefaults | undefined {
  const types = new Map<string, Settings>();
  for (const { labels, section } of top.blocks('user_lockout', 1)) {
    const type = labels[0]!.toLowerCase();
    const near = KNOWN.includes(type) ? undefined : closest(type, KNOWN);
    if (near !== undefined) section.complainHere(`is no login method; did you mean ${shown(near)}?`);
    else if (types.has(type)) section.complainHere('is there twice');
    types.set(type, readSettings(section));
  }
  const disabled = disabledBy(top, env);
  if (types.size === 0 && !disabled) return undefined;
  const all = types.get('all');
  types.delete('all');
  return { types, ...(all ? { all } : {}), ...(disabled ? { disabled } : {}) };
}

function readSettings(section: Section): Settings {
  const threshold = section.integer('lockout_threshold', { min: 1 });
  const duration = section.duration('lockout_duration', { min: 1 });
  const counterReset = section.duration('lockout_counter_reset', { min: 1 });
  const disable = section.bool('disable_lockout');
  section.done();
  return {
    ...(threshold === undefined ? {} : { lockout_threshold: threshold }),
    ...(duration === undefined ? {} : { lockout_duration: duration }),
    ...(counterReset === undefined ? {} : { lockout_counter_reset: counterReset }),
    ...(disable === undefined ? {} : { lockout_disable: disable }),
  };
}

function disabledBy(top: Section, env: Environment): boolean {
  const name = DISABLE.find((variable) => env[variable]);
  if (name === undefined) return false;
  const value = env[name]!.toLowerCase();
  if (['true', 't', '1'].includes(value)) return true;
  if (!['false', 'f', '0'].includes(value)) top.complainHere(`${name} must be true or false`);
  return false;
}
